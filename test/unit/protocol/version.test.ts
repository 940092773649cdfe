import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { isOlderVersion } from '../../../gateway/edge-stream/handshake.ts';
import { EDGE_VERSION, EDGE_VERSION_MIN } from '../../../protocol/frames.ts';
import { VERSION } from '../../../protocol/version.ts';
import { ROOT } from '../../support/tree.ts';

test('§9.4 edge, cloud and package have one version, which the cloud accepts and the changelog tells', (t) => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  t.deepEqual([EDGE_VERSION, VERSION], [manifest.version, manifest.version]);
  t.false(isOlderVersion(EDGE_VERSION, EDGE_VERSION_MIN));
  t.is(/^## (\S+)/m.exec(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'))?.[1], VERSION);
});
