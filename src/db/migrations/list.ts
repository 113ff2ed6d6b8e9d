export const migrationList = []
