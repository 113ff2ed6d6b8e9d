/**
 * With `?` for an instance, as the first statement of a transaction that marks it deleted: locks the user's
 * row as a new instance does, so that whoever attaches a second instance to a service and whoever deletes the
 * first come one after the other. Without it they would wait for each other: the one has the user and wants
 * the service, the other has the service and wants the user, because clearing the foreign key of a row that
 * this very transaction has marked checks all its keys again. A statement of its own: only what begins after
 * the lock was got sees the clones that were made before.
 */
export const lockOwnerSql = `
  select uuid from users where uuid = (select user_uuid from instances where uuid = ?) for key share`

/**
 * To stand after `marked`, which returns the row of the instance: what was made with it alone goes with it.
 * Where a second instance was attached meanwhile, the service is persistent by now and stays.
 */
export const deleteImplicitServiceSql = `
  gone as (delete from services using marked
    where services.uuid = marked.service_uuid and not services.persistent)`

/**
 * The same for the volume that was made with it. It is only marked: its row stays until the host is clean.
 * Where it was detached meanwhile, `marked` does not name it any more, and it is persistent.
 */
export const deleteImplicitVolumeSql = `
  taken as (update volumes set deleted_at = now() from marked
    where volumes.uuid = marked.volume_uuid and not volumes.persistent and volumes.deleted_at is null
    returning volumes.uuid)`

/**
 * The same for a master: its configuration is deleted with it, and its clones are, without a drain, as it is
 * itself. Their workflows and that of the configuration are to be told; what is not told the sweep repeats.
 */
export const deleteClonesSql = `
  unconfigured as (update autoscale_configurations set deleted_at = now() from marked
    where autoscale_configurations.master_uuid = marked.uuid and autoscale_configurations.deleted_at is null
    returning autoscale_configurations.service_uuid),
  clones as (update instances set deleted_at = now() from marked
    where instances.service_uuid = marked.service_uuid and instances.clone_of = marked.uuid
      and instances.deleted_at is null
    returning instances.uuid)`

/** Everything that one deletion makes invisible, to be notified of. */
export const deletedInstances = '(select uuid from marked union all select uuid from clones) as deleted'
