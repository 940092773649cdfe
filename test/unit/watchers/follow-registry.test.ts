import test from 'ava';
import { createRegistryFollower } from '../../../chain-watchers/follow-registry.ts';
import { TokensInForce } from '../../../chains/tokens.ts';
import type { PublishedRegistry } from '../../../model/ports/registry-store.ts';
import { frameOfVersion, REGISTRY_KEYS, STRANGER, versionOf } from '../../support/edge/registry.ts';

interface Facts {
  registryVersion?: number;
  reason?: string;
}

function following(keys = REGISTRY_KEYS.map(({ publicKey }) => publicKey)) {
  const published: PublishedRegistry[] = [],
    lines: string[] = [],
    heard: number[] = [];
  const tokens = new TokensInForce();
  const follower = createRegistryFollower({
    tokens,
    keys: new Set(keys),
    store: {
      newestAbove: async (version, below = Infinity) =>
        published.findLast((one) => one.version > version && one.version < below) ?? null,
    },
    log: {
      info: (facts: Facts) => void lines.push(`in force ${facts.registryVersion}`),
      error: (facts: Facts) => void lines.push(`${facts.reason} ${facts.registryVersion}`),
    },
  });
  follower.listen(({ version }) => void heard.push(version));
  return { published, lines, heard, tokens, follower };
}

test('treasury K7, K11: what two registry keys did not sign is never in force, is a line once, and hides no earlier version', async (t) => {
  const { published, lines, heard, tokens, follower } = following();
  await follower.look();
  t.is(follower.inForce(), null);
  published.push(
    frameOfVersion(versionOf(2)),
    { version: 3, content: 'no registry', signatures: [] },
    frameOfVersion(versionOf(4), [REGISTRY_KEYS[0]!, REGISTRY_KEYS[0]!]),
    frameOfVersion(versionOf(5), [REGISTRY_KEYS[0]!, STRANGER]),
  );
  await follower.look();
  await follower.look();
  t.is(tokens.current.version, 2);
  t.is(follower.inForce()?.version, 2);
  t.deepEqual(heard, [2]);
  t.deepEqual(lines, ['registry_not_signed 5', 'registry_not_signed 4', 'registry_malformed 3', 'in force 2']);
  published.push(frameOfVersion(versionOf(6)));
  await follower.look();
  t.is(tokens.current.version, 6);
});

test('treasury K8: a signed version that drops or changes what was published is not put in force', async (t) => {
  const { published, lines, tokens, follower } = following();
  published.push(frameOfVersion(versionOf(2, ({ tokens: [first] }) => (first!.deployments[0]!.decimals += 1))));
  await follower.look();
  t.is(tokens.current.version, 1);
  t.deepEqual(lines, ['registry_changes_decimals 2']);
});

test('treasury K7: without keys nothing is put in force', async (t) => {
  const { published, tokens, follower } = following([]);
  published.push(frameOfVersion(versionOf(2)));
  await follower.look();
  t.is(tokens.current.version, 1);
});
