/**
 * Loaded by every test process. Its event loop is woken once a second, and not kept alive by it: a process whose tests
 * are done has been seen to wait for ever in a poll although nothing was left to wait for (twice in whole runs,
 * `integration/watchers/anvil`, Node.js 24.21); any wake-up ended it.
 */
setInterval(() => undefined, 1_000).unref();
