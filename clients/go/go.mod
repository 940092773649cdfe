module flock.example/flock

go 1.19
