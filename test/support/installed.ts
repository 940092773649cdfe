/** Programs of Debian that a test needs. Where one is missing, the test fails and says its package. */
import { execFileSync, spawnSync } from 'node:child_process';

const onPath = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;

/**
 * Installs the package of a program where this machine lacks it and lets us. Throws: Error that names the package.
 */
export function needsProgram(program: string, packageName: string): void {
  if (onPath(program)) return;
  try {
    execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', packageName], {
      stdio: 'ignore',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  } catch {
    // Not root, not Debian, or no network: said below.
  }
  if (!onPath(program)) throw new Error(`${program} is missing: apt-get install ${packageName}`);
}
