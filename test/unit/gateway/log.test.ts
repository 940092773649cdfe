import test from 'ava';
import { ChainUnavailable } from '../../../chains/chain.ts';
import { sources } from '../../support/tree.ts';
import { DatabaseAway, isAway } from '../../../persistence/postgres/away.ts';
import { createLog } from '../../../gateway/telemetry/log.ts';

const CANARIES = {
  phrase: 'legal winner thank year wave sausage worth useful legal winner thank yellow',
  apiKey: 'flk_live_abcdefghijklmnopqrstuvwxyz234567abcdefg',
  localKey: 'loc_test_abcdefghijklmnopqrstuvwxyz234567abcdefg',
  webhookSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  xpub: 'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj',
  xprv: 'xprv9xpXFhFpqdQK3TmytPBqXtGSwS3DLjojFhTGht8gwAAii8py5X6pxeBnQ6ehJiyJ6nDjWGJfZ95WxByFXVkDxHXrqu53WCRGypk2ttuqncb',
  jwt: 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl',
  databasePassword: 'postgres://flock:hunter22@db/flock',
};
/** Secrets that have no form: only the way in can keep them out. */
const FORMLESS = 'correct-horse-7';

function written(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(
    createLog('debug', 'test', {
      write: (line: string) => {
        lines.push(line);
      },
    }),
  );
  for (const line of lines) JSON.parse(line);
  return lines.join('');
}

const everything = [...Object.values(CANARIES), FORMLESS];

test('reliability 0.8: nested values, arrays, messages of errors and their causes have no way in', (t) => {
  for (const secret of everything) {
    const error = Object.assign(new Error(`failed with ${secret}`, { cause: new Error(`because of ${secret}`) }), {
      detail: secret,
      hint: { secret },
    });
    const text = written((log) => {
      log.info(
        { password: secret, a: { b: { c: secret } }, list: [{ secret }, [secret]], headers: { authorization: secret } },
        'nested',
      );
      log.error({ err: error, requestId: 'req_1' }, 'an error');
      log.error(error, 'a bare error');
      log.error({ error: { message: secret, code: 'x' }, fault: secret.length }, 'an object that is none');
      log.info({ path: { deep: secret }, reason: { secret }, actors: [{ secret }] }, 'known names with objects');
      log.child({ session: secret, requestId: 'req_2' }).warn({ cause: error }, 'a child');
    });
    t.false(text.includes(secret), secret);
    t.true(text.includes('req_1') && text.includes('req_2') && text.includes('"code":"x"'), 'and the facts are there');
  }
});

test('a secret with a form is cut out of known facts and of the message itself', (t) => {
  for (const [name, secret] of Object.entries(CANARIES)) {
    const text = written((log) => {
      log.info({ reason: `was ${secret}`, path: secret, actors: [secret], code: secret }, `message with ${secret}`);
      log.info(`only a message: ${secret}`);
      log.info('formatted %s %o', secret, { secret });
    });
    t.false(text.includes(name === 'databasePassword' ? 'hunter22' : secret), name);
  }
});

test('numbered, quoted and comma-separated phrases are cut out too', (t) => {
  const words = CANARIES.phrase.split(' ');
  for (const form of [
    words.map((word, at) => `${at + 1}. ${word}`).join(' '),
    words.join(', '),
    words.join('\n'),
    words.join(' ').toUpperCase(),
  ]) {
    t.false(
      written((log) => log.info({ reason: form }, `phrase: ${form}`))
        .toLowerCase()
        .includes('sausage'),
      form,
    );
  }
});

test('what is dropped is named, so that nobody looks for it in vain', (t) => {
  t.like(JSON.parse(written((log) => log.info({ colour: FORMLESS, height: 7 }, 'x'))), {
    dropped: ['colour'],
    height: 7,
  });
  t.deepEqual(
    JSON.parse(
      written((log) =>
        log.info({ forkPoint: { height: 7, hash: '0xab', secret: FORMLESS, from: { height: 1 } } }, 'x'),
      ),
    ).forkPoint,
    { height: 7, hash: '0xab', from: '[object]' },
  );
});

test('issue 2.11 no line of ours names a fact that the log would drop', (t) => {
  const names = sources()
    .filter(({ path }) => /^(?:actors|chain-watchers|gateway|persistence|supervision)\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\blog(?:\.\w+|\[[^\]]+\])\(\s*\{([^{}]*)\}/g)].flatMap(([, fields]) =>
        fields!
          .split(',')
          .flatMap((field) => /^\s*(\w+)\s*(?::|$)/.exec(field)?.[1] ?? [])
          .map((name) => ({ path, name })),
      ),
    );
  t.true(names.length > 100);
  const dropped = names.filter(
    ({ name }) => 'dropped' in (JSON.parse(written((log) => log.info({ [name]: 1 }, 'x'))) as object),
  );
  t.deepEqual(dropped, []);
});

test('of an error its name, code and places remain', (t) => {
  const line = JSON.parse(written((log) => log.warn({ err: new ChainUnavailable('eth', 'timeout') }, 'x'))) as {
    err: { name: string; at: string[] };
  };
  t.is(line.err.name, 'ChainUnavailable');
  t.true(line.err.at.length > 0 && line.err.at.every((place) => place.startsWith('at ')));
  t.is(
    (
      JSON.parse(written((log) => log.warn({ err: Object.assign(new Error('x'), { code: '23505' }) }, 'x'))) as {
        err: { code: string };
      }
    ).err.code,
    '23505',
  );
});

test('found F75: while the database is away each place says each fault once, then at most once a minute with what was withheld', (t) => {
  const lines: { msg: string; withheld?: number; level: string }[] = [];
  let elapsedMs = 0;
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = createLog('debug', 'test', destination, { isAway, elapsedMs: () => elapsedMs });
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    starting = Object.assign(new Error('starting up'), { code: '57P03' });
  const child = log.child({ accountId: 'org_1_live' });
  const places: (() => void)[] = [
    () => log.warn({ err: refused, count: 3 }, 'deliveries could not be claimed'),
    () => log.warn({ err: new DatabaseAway(refused) }, 'sessions could not be saved'),
    () => child.warn({ reason: new DatabaseAway(refused).message }, 'account was not woken; its inbox keeps the facts'),
    () => log.warn({ actor: 'accounts/x', code: 'store_away', message: 'of it' }, 'actor fault'),
    () => log.error({ err: refused, requestId: 'req_1' }, 'the database did not serve a request'),
  ];
  for (let round = 0; round < 300; round += 1) {
    elapsedMs = round * 200; // a minute of polls
    for (const place of places) place();
  }
  t.is(lines.length, places.length, lines.map(({ msg }) => msg).join());
  log.warn({ err: starting }, 'deliveries could not be claimed');
  t.is(lines.length, places.length + 1, 'another fault is said at once');
  elapsedMs = 60_000;
  for (const place of places) place();
  t.deepEqual(
    lines.slice(places.length + 1).map(({ withheld }) => withheld),
    places.map(() => 299),
  );
});

test('found F75: lines of no outage are never withheld, nor what is no warning', (t) => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog('debug', 'test', destination, { isAway, elapsedMs: () => 0 });
  for (let round = 0; round < 3; round += 1) {
    log.warn('another node serves now');
    log.error({ err: Object.assign(new Error('duplicate'), { code: '23505' }) }, 'a request failed');
    log.warn({ chain: 'eth', reason: 'eth-1: connection failed: ECONNREFUSED' }, 'a chain cannot be asked');
    log.info({ err: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }, 'an info line');
  }
  t.is(lines.length, 12);
});
