-- An owner gives the organization another name; nothing else of its row is the application's to change.
grant update (name) on organization to flock_app;
