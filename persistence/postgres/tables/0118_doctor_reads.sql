-- The doctor of the cloud compares what was applied with its own release. Ecosystem X35.
grant select on migration, function, function_set to flock_app;
