/** The channel on which a trigger notifies of new events. The payload is the user's UUID. */
export const eventChannel = 'roost_event'
