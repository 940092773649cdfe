import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { NO_SWEEPS } from '../../support/edge/no-sweeps.ts';
import { adviceFor } from '../../../edge/http/advice.ts';
import { phraseCommand } from '../../../edge/cli/phrase.ts';
import { isMnemonic } from '../../../edge/keystore/keys.ts';
import { createEdgeLog } from '../../../edge/process/log.ts';
import { statusOfEdge } from '../../../edge/http/status.ts';
import { ERRORS, refuse, type ErrorCode } from '../../../protocol/errors.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const REASONS = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'no_envelope',
  'timeout',
  'anything else',
];

test('found F76: a cloud that cannot be reached or is none names CLOUD_URL and the next step, whatever the reason', (t) => {
  for (const reason of REASONS) {
    const advice = adviceFor(refuse('UPSTREAM_UNAVAILABLE', { reason }));
    t.is(advice?.setting, 'CLOUD_URL', reason);
    t.true(advice!.next.length > 20);
  }
});

test('found F76: a refusal that only a person ends names the setting to change; one that heals by itself names none', (t) => {
  const settings: Partial<Record<ErrorCode, string>> = {
    UNAUTHORIZED: 'API_KEY',
    FORBIDDEN: 'API_KEY',
    ACCOUNT_SUSPENDED: 'API_KEY',
    EDGE_SIGNATURE_SKEW: 'clock',
    EDGE_SIGNATURE_INVALID: 'MNEMONIC_FILE',
    IDENTITY_ROTATION_PENDING: 'MNEMONIC_FILE',
    CROSS_ENVIRONMENT_IDENTITY: 'MNEMONIC_FILE',
    EDGE_VERSION_UNSUPPORTED: 'version',
    NOT_FOUND: 'CLOUD_URL',
    METHOD_NOT_ALLOWED: 'CLOUD_URL',
    UPSTREAM_UNAVAILABLE: 'CLOUD_URL',
  };
  for (const code of Object.keys(ERRORS) as ErrorCode[]) t.is(adviceFor(refuse(code))?.setting, settings[code], code);
});

test('found F76: log and status page carry the advice whole', (t) => {
  const codes = [
    ...REASONS.map((reason) => refuse('UPSTREAM_UNAVAILABLE', { reason })),
    refuse('UNAUTHORIZED'),
    refuse('EDGE_SIGNATURE_INVALID'),
    refuse('IDENTITY_ROTATION_PENDING'),
    refuse('CROSS_ENVIRONMENT_IDENTITY'),
  ];
  for (const refusal of codes) {
    const advice = adviceFor(refusal)!;
    const lines: string[] = [];
    createEdgeLog('info', {
      write: (line: string) => {
        lines.push(line);
      },
    }).warn('registration_refused', { code: refusal.code, ...advice });
    t.like(JSON.parse(lines[0]!), { code: refusal.code, setting: advice.setting, next: advice.next });
    const { explanation } = statusOfEdge({
      config: { environment: 'live', chains: ['eth'], podHint: 'pod-1' },
      registration: { kind: 'unconfirmed', code: refusal.code, advice },
      identity: 'a'.repeat(64),
      liveChains: null,
      streamUp: false,
      lease: { role: 'follower', leaseEpoch: 0, held: false },
      outbox: { outboxDepth: 0, outboxPoisoned: false, poisonedBy: null, setAside: 0 },
      deliveries: 0,
      blocked: [],
      examined: null,
      sweeps: NO_SWEEPS,
      alarms: 0,
      uptimeSeconds: 1,
      sessionId: 'ses_x',
      stopping: false,
    });
    t.true(explanation.includes(advice.setting) && explanation.includes(advice.next));
  }
});

test('found F78: a phrase is made by a command, in a new file of mode 600, shown nowhere, and written over none', (t) => {
  const file = join(newDirectory(), 'phrase');
  const said: string[] = [];
  const sink = { write: (text: string) => void said.push(text) };
  t.is(phraseCommand([file], sink, sink), 0);
  const phrase = readFileSync(file, 'utf8').trim();
  t.is(phrase.split(' ').length, 24);
  t.true(isMnemonic(phrase));
  t.is(statSync(file).mode & 0o777, 0o600);
  t.false(said.join('').includes(phrase.split(' ').slice(0, 2).join(' ')));
  writeFileSync(file, 'precious');
  t.is(phraseCommand([file], sink, sink), 1);
  t.is(readFileSync(file, 'utf8'), 'precious');
  for (const args of [[], ['a', 'b'], ['--help']]) t.is(phraseCommand(args, sink, sink), 2);
  t.is(phraseCommand([join(file, 'below', 'a', 'file')], sink, sink), 1);
});
