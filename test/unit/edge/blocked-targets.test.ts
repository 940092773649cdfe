/** What an operator of an edge is shown of webhooks that its own policy keeps back. */
import test from 'ava';
import { NO_SWEEPS } from '../../support/edge/no-sweeps.ts';
import { statusOfEdge } from '../../../edge/http/status.ts';
import { BLOCK_REASONS, BlockedTargets, targetOf } from '../../../edge/webhooks/blocked-targets.ts';
import { parseWebhookAllowlist } from '../../../edge/webhooks/allowlist.ts';
import { createWebhookPolicy } from '../../../edge/webhooks/policy.ts';

const at = (target: BlockedTargets) =>
  statusOfEdge({
    config: { environment: 'live', chains: ['eth'], podHint: 'pod-1' },
    registration: { kind: 'confirmed' },
    identity: 'a'.repeat(64),
    liveChains: null,
    streamUp: true,
    lease: { role: 'leader', leaseEpoch: 1, held: true },
    outbox: { outboxDepth: 0, outboxPoisoned: false, poisonedBy: null, setAside: 0 },
    deliveries: 0,
    blocked: target.list(),
    examined: null,
    sweeps: NO_SWEEPS,
    alarms: 0,
    uptimeSeconds: 1,
    sessionId: 'ses_x',
    stopping: false,
  }).lines.filter(({ label }) => label === 'Webhook blocked');

test('found F76: each destination that the policy refuses is shown with host and port, the setting where one decides, and the next step', (t) => {
  const list = parseWebhookAllowlist('hooks.example.com:8443,https://paths.example.com/in/');
  if (!list.ok) return t.fail();
  const policy = createWebhookPolicy({ environment: 'live', allowlist: list.targets, ownPort: () => 8_081 }, []);
  const open = createWebhookPolicy({ environment: 'live', allowlist: null, ownPort: () => 8_081 }, []);
  const cases = [
    [policy, 'https://10.0.0.7/secret-path', '10.0.0.7:443', 'private', true],
    [policy, 'https://93.184.216.34/x', '93.184.216.34:443', 'not_listed', true],
    [policy, 'https://paths.example.com/other/secret-path', 'paths.example.com:443', 'path_not_listed', true],
    [policy, 'http://127.0.0.1:9000/x', '127.0.0.1:9000', 'loopback', true],
    [policy, 'http://127.0.0.1:8081/x', '127.0.0.1:8081', 'own_listener', false],
    [policy, 'http://169.254.169.254/latest', '169.254.169.254:80', 'forbidden', true],
    [open, 'http://93.184.216.34/x', '93.184.216.34:80', 'plain_http', true],
    [open, 'ftp://example.com/x', 'example.com:443', 'scheme', false],
    [open, 'https://user:hunter2@example.com/', 'example.com:443', 'credentials', false],
    [open, 'secret-path', 'no URL', 'not_a_url', false],
  ] as const;
  for (const [judge, url, target, reason, isListed] of cases) {
    const targets = new BlockedTargets(() => 0);
    t.is(judge.judgeUrl(url), reason, url);
    t.like(targets.note(url, reason), {
      target,
      reason,
      setting: isListed ? 'EDGE_WEBHOOK_ALLOWLIST' : null,
      count: 1,
    });
    const [line] = at(targets);
    t.like(line, { value: target, tone: 'bad' });
    t.true(line!.hint!.includes(targets.list()[0]!.next));
    t.false(/secret-path|hunter2/.test(JSON.stringify([targets.list(), line])), 'no path, no password');
  }
  t.deepEqual(
    [...new Set([...cases.map(([, , , reason]) => reason), 'no_address'])].toSorted(),
    BLOCK_REASONS.toSorted(),
  );
});

test('found F76: a name without an address is shown too; what is reached again is not; the list is bounded, the newest stay', (t) => {
  let nowMs = 5;
  const targets = new BlockedTargets(() => nowMs);
  targets.note('https://gone.example/x', 'ENOTFOUND');
  nowMs = 9;
  t.like(targets.note('https://gone.example/y', 'ENOTFOUND'), { reason: 'no_address', count: 2, sinceMs: 5 });
  t.like(targets.note('https://gone.example/y', 'private'), { reason: 'private', count: 1, sinceMs: 9 });
  targets.reached('https://gone.example/z');
  t.deepEqual(targets.list(), []);
  for (let one = 0; one < 100; one += 1) targets.note(`https://host-${one}.example/`, 'not_listed');
  t.is(targets.list().length, 32);
  t.is(targets.list()[0]!.target, 'host-99.example:443');
  t.is(targetOf('https://[2001:db8::1]:444/x'), '[2001:db8::1]:444');
});
