/** A PKCS#11 token in software for a test; SoftHSM is installed by apt where the machine lacks it and allows it. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newDirectory } from './edge/disk.ts';

export interface Token {
  /** Settings of an edge that uses it, without the PIN. */
  readonly env: Readonly<Record<string, string>>;
  readonly pin: string;
  /** The token with everything in it is gone. */
  destroy(): void;
}

const MODULES = '/usr/lib/{softhsm,*/softhsm}/libsofthsm2.so';

function modulePath(): string {
  const installed = () => globSync(MODULES).at(0);
  const found = installed();
  if (found !== undefined && existsSync('/usr/bin/softhsm2-util')) return found;
  if (process.getuid?.() !== 0) throw new Error('softhsm2 is missing: apt-get install softhsm2');
  execFileSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'softhsm2'], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return installed()!;
}

/** A fresh token in a directory of its own. */
export function newToken(label = 'flock-test', pin = 'CANARY-PIN-7419'): Token {
  const module = modulePath();
  const directory = newDirectory(),
    tokens = join(directory, 'tokens'),
    settings = join(directory, 'softhsm2.conf');
  mkdirSync(tokens);
  writeFileSync(settings, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`);
  execFileSync('softhsm2-util', ['--init-token', '--free', '--label', label, '--so-pin', '00000000', '--pin', pin], {
    stdio: 'ignore',
    env: { ...process.env, SOFTHSM2_CONF: settings },
  });
  return {
    pin,
    env: { SOFTHSM2_CONF: settings, EDGE_PKCS11_MODULE: module, EDGE_PKCS11_TOKEN: label },
    destroy() {
      rmSync(tokens, { recursive: true });
      mkdirSync(tokens);
    },
  };
}
