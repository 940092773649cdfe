/** Runs a foreign program so that it ends with this process, even when this one is killed. */

/**
 * Arguments for `spawn` with standard input as a pipe: a shell runs the program until it ends or the pipe closes, then
 * signals it. The pipe closes when this process ends, in whatever way. The shell's first line on standard error is
 * `server pid N`. A folder that is given is the program's alone, and is deleted when it ended.
 */
export function guarded(
  signal: 'INT' | 'KILL',
  command: string,
  args: readonly string[],
  folder = '',
): [string, string[]] {
  const script = `
folder=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- & server=$!
{ cat <&3 >/dev/null 2>&1; kill -${signal} "$server"; } 2>/dev/null & watch=$!
exec 3<&-
echo "server pid $server" >&2
wait "$server"; code=$?
kill "$watch" 2>/dev/null
[ -z "$folder" ] || rm -rf -- "$folder"
exit "$code"`;
  return ['/bin/sh', ['-c', script, 'guarded', folder, command, ...args]];
}
