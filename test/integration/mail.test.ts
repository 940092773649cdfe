/** Mail to owners: written with the event, sent at least once, whatever happens between. Spec §5.7. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { letterOf } from '../../gateway/mail/letters.ts';
import { peopleLetterOf } from '../../gateway/mail/people-letters.ts';
import { sendDueMail } from '../../gateway/mail/sender.ts';
import { directoryTransport, smtpTransport, type MailTransport } from '../../gateway/mail/transports.ts';
import type { DueMail } from '../../model/ports/mail-store.ts';
import type { Stores } from '../../persistence/postgres/stores.ts';
import { newId } from '../../protocol/node/ids.ts';
import { exampleOf } from '../../protocol/schema/events.ts';
import { ConfigurationError, readConfig } from '../../supervision/config.ts';
import { startSmtp } from '../support/smtp.ts';
import { createTestDatabase, eventually, type TestDatabase } from '../support/postgres.ts';
import { newOrganization, NOW_MS, openStores, publicationRow, write } from '../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.beforeEach(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.afterEach.always(() => database.close());

const FROM = 'Flock <flock@example.com>';
const PUBLIC_URL = 'https://flock.example.com';

/** An organization with two owners and a viewer, and a rotation that was detected. */
async function rotation() {
  const { organizationId, live, userId } = await newOrganization(stores);
  const join = async (role: 'owner' | 'viewer') => {
    const id = newId('usr', NOW_MS);
    await stores.identity.insertUser({
      id,
      email: `${id}@example.com`,
      passwordHash: 'x',
      sealedTotpSecret: null,
      totpConfirmed: false,
      platformRole: null,
    });
    await stores.identity.insertMembership({ userId: id, organizationId, role });
    return id;
  };
  const owners = [userId, await join('owner')];
  await join('viewer');
  const body = JSON.stringify({ ...exampleOf('identity_rotation_detected'), environment: 'live' });
  const row = publicationRow(live, { event: 'identity_rotation_detected', toAll: true, body });
  await write(stores, live, [{ table: 'publication', row }]);
  return { live, row, owners: owners.map((id) => `${id}@example.com`).toSorted() };
}

const sending = (transport: MailTransport, nowMs: () => number = () => NOW_MS, warnings: unknown[] = []) => ({
  metrics: { add: (name: string) => void warnings.push(name) },
  store: stores.mail,
  invoices: { mint: stores.invoices.mint, payUrl: PUBLIC_URL },
  secrets: { open: (sealed: string) => sealed },
  transport,
  publicUrl: PUBLIC_URL,
  nowMs,
  log: {
    info: () => undefined,
    warn: (fields: object) => {
      warnings.push(fields);
    },
  },
});

test.serial(
  '§5.7 every owner is mailed once, by the statement that publishes the event; nobody else is, for no other event',
  async (t) => {
    const smtp = await startSmtp(t);
    const { live, owners } = await rotation();
    await write(stores, live, [{ table: 'publication', row: publicationRow(live, { event: 'edge_offline' }) }]);
    t.is(await stores.mail.unsent(), 2);
    const transport = smtpTransport(smtp.url, FROM);
    t.is(await sendDueMail(sending(transport)), 2);
    t.deepEqual(smtp.taken.flatMap(({ to }) => to).toSorted(), owners);
    t.true(smtp.taken.every(({ from }) => from === 'flock@example.com'));
    t.is(await stores.mail.unsent(), 0);
    t.is(await sendDueMail(sending(transport, () => NOW_MS + 1e9)), 0, 'once');
    t.is(await stores.mail.purgeSent(NOW_MS + 1), 2);
    transport.close();
  },
);

test.serial(
  '§5.7 a server whose answer never ends holds no later mail up: it is cut, and the next one is sent',
  async (t) => {
    const smtp = await startSmtp(t),
      warnings: unknown[] = [];
    await rotation();
    let asked = 0;
    smtp.judge = () => ((asked += 1) === 1 ? 'drip' : 'take');
    const transport = smtpTransport(smtp.url, FROM, { wholeMs: 300 });
    t.is(await sendDueMail(sending(transport, () => NOW_MS, warnings)), 1);
    t.like(warnings[0], { reason: 'ETIMEDOUT: the server did not finish within 300 ms' });
    t.is(smtp.taken.length, 1);
    await eventually('the line is cut', async () => smtp.open() === 0);
    transport.close();
  },
);

test.serial('§5.7 nobody listens: the mail waits', async (t) => {
  await rotation();
  const warnings: unknown[] = [],
    transport = smtpTransport('smtp://127.0.0.1:1', FROM);
  t.is(await sendDueMail(sending(transport, () => NOW_MS, warnings)), 0);
  t.regex(JSON.stringify(warnings), /ECONNREFUSED/);
  t.is(await stores.mail.unsent(), 2);
  transport.close();
});

test.serial(
  '§5.7 a server that refuses is asked again after pauses, for ever; one owner keeps no other waiting',
  async (t) => {
    const smtp = await startSmtp(t);
    await rotation();
    const transport = smtpTransport(smtp.url, FROM),
      warnings: unknown[] = [];
    let nowMs = NOW_MS,
      asked = 0;
    smtp.judge = () => ((asked += 1) === 1 ? 'refuse' : 'take');
    t.is(await sendDueMail(sending(transport, () => nowMs, warnings)), 1);
    t.is(warnings.length, 1);
    t.regex(JSON.stringify(warnings), /451 try again later/);
    t.is(await sendDueMail(sending(transport, () => nowMs)), 0, 'not at once');
    smtp.judge = () => 'refuse';
    for (const minutes of [1, 5, 30, 60, 60, 60]) {
      nowMs += minutes * 60_000 - 1;
      t.is((await stores.mail.claimDue(9, nowMs, 0)).length, 0, `not before ${minutes} minutes`);
      nowMs += 1;
      t.is(await sendDueMail(sending(transport, () => nowMs)), 0);
    }
    smtp.judge = () => 'take';
    nowMs += 3_600_000;
    t.is(await sendDueMail(sending(transport, () => nowMs)), 1);
    t.is(await stores.mail.unsent(), 0);
    transport.close();
  },
);

test.serial(
  '§5.7 a mailbox that is refused for good is given up at the fourth try, told and counted; one that is refused for now, or for who sends, never',
  async (t) => {
    for (const [answer, isGivenUp] of [
      ['550 5.1.1 no such user', true],
      ['550 No such user here', true],
      ['552-5.2.1 it is closed\r\n552 5.2.1 for ever', true],
      ['450 4.2.1 not now', false],
      ['421 4.7.0 try later', false],
      ['554 5.7.1 relay access denied', false],
      ['550-5.7.26 not authenticated\r\n550 5.7.26 see a page', false],
      ['553 5.1.8 the sender has no such domain', false],
    ] as const) {
      await database.owner`delete from mail`;
      const smtp = await startSmtp(t);
      const { owners } = await rotation();
      const transport = smtpTransport(smtp.url, FROM),
        told: unknown[] = [];
      smtp.recipient = (mailbox) => (mailbox === owners[0] ? answer : '250 ok');
      let nowMs = NOW_MS,
        sent = 0;
      for (const minutes of [0, 1, 5, 30]) {
        t.false(told.includes('svc_mail_given_up_total'), answer);
        nowMs += minutes * 60_000;
        sent += await sendDueMail(sending(transport, () => nowMs, told));
      }
      t.is(sent, 1, 'the other owner is told');
      t.is(told.includes('svc_mail_given_up_total'), isGivenUp, answer);
      t.is(await stores.mail.unsent(), isGivenUp ? 0 : 1, answer);
      const [row] = await database.owner<{ lastError: string; sentAt: Date | null; attempts: number }[]>`
        select last_error, sent_at, attempts from mail where recipient = ${owners[0]!}`;
      t.regex(row!.lastError, /EENVELOPE/);
      t.is(row!.attempts, 4);
      nowMs += 3_600_000;
      smtp.recipient = () => '250 ok';
      t.is(await sendDueMail(sending(transport, () => nowMs)), isGivenUp ? 0 : 1, answer);
      transport.close();
    }
  },
);

test.serial(
  '§5.7 a line that is cut before the answer, or a process that ends before the record: it comes again under the same Message-ID',
  async (t) => {
    const smtp = await startSmtp(t);
    await rotation();
    const transport = smtpTransport(smtp.url, FROM);
    smtp.judge = () => 'cut';
    t.is(await sendDueMail(sending(transport)), 0);
    t.is(smtp.taken.length, 2);
    smtp.judge = () => 'take';
    const dying = {
      ...stores.mail,
      record: async () => {
        throw new Error('the process ends here');
      },
    };
    const later = NOW_MS + 60_000;
    await t.throwsAsync(sendDueMail({ ...sending(transport, () => later), store: dying }), {
      message: 'the process ends here',
    });
    t.is(smtp.taken.length, 3);
    t.is(await sendDueMail(sending(transport, () => later + 119_999)), 0, 'claimed until the claim ends');
    t.is(await sendDueMail(sending(transport, () => later + 120_000)), 2);
    const idOf = ({ message }: { message: string }) => /^Message-ID:\s*(<[^>]+>)/im.exec(message)![1]!;
    t.is(new Set(smtp.taken.map(idOf)).size, 2, 'a mailbox can tell the repetitions');
    transport.close();
  },
);

test.serial('two senders at once send each mail once', async (t) => {
  const smtp = await startSmtp(t);
  for (let n = 0; n < 3; n += 1) await rotation();
  const transport = smtpTransport(smtp.url, FROM);
  await Promise.all([1, 2, 3].map(() => sendDueMail(sending(transport))));
  t.is(smtp.taken.length, 6);
  t.is(await stores.mail.unsent(), 0);
  transport.close();
});

test.serial('MAIL_DIR: each message is one whole file that only its user reads', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'flock-mail-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { owners } = await rotation();
  t.is(await sendDueMail(sending(directoryTransport(join(directory, 'made'), FROM))), 2);
  const files = readdirSync(join(directory, 'made'));
  t.is(files.length, 2);
  t.true(files.every((name) => name.endsWith('.eml')));
  const texts = files.map((name) => readFileSync(join(directory, 'made', name), 'utf8'));
  t.true(owners.every((owner) => texts.some((text) => text.includes(`To: ${owner}`))));
  t.regex(texts[0]!, /^Auto-Submitted: auto-generated$/m);
});

test.serial('the settings of mail are checked at boot, and no password is echoed', (t) => {
  const base = { DATABASE_URL: 'postgres://flock_app@127.0.0.1/flock', SECRET_KEY: 'ab'.repeat(32) };
  t.like(readConfig({ ...base, SMTP_URL: 'smtps://user:word@mail.example.com:465?requireTLS=true' }), {
    MAIL_FROM: 'Flock <flock@localhost>',
  });
  for (const [wrong, named] of [
    [
      { SMTP_URL: 'smtp://user:secretword@mail.example.com', MAIL_DIR: '/var/mail' },
      /SMTP_URL or MAIL_DIR: at most one/,
    ],
    [{ SMTP_URL: 'https://user:secretword@mail.example.com' }, /SMTP_URL: /],
    [{ MAIL_FROM: 'nobody' }, /MAIL_FROM: is an address/],
    [{ MAIL_FROM: 'Flock\r\nBcc: eve@example.com <flock@example.com>' }, /MAIL_FROM/],
  ] as const) {
    const error = t.throws(() => readConfig({ ...base, ...wrong }), { instanceOf: ConfigurationError, message: named });
    t.notRegex(error!.message, /secretword/);
  }
});

const MAIL: Omit<DueMail, 'attempts' | 'accountId'> = {
  eventId: 'evt_5kkqdkjrm2ovmlx3khjjqkg43i',
  userId: 'usr_1',
  organization: 'Acme',
  kind: 'identity_rotation_detected',
  recipient: 'ada@example.com',
  body: exampleOf('identity_rotation_detected'),
};

test.serial(
  '§5.10 a letter names fingerprints, the rotation and both decisions, and nothing that could act or sign',
  (t) => {
    const { rotationId, pinnedIdentity, newIdentity } = MAIL.body.data as Record<string, string>;
    const { subject, text, messageId } = letterOf(MAIL, PUBLIC_URL)!;
    for (const said of [rotationId, pinnedIdentity, newIdentity, 'Acme', 'live', MAIL.body.timestamp])
      t.true(text.includes(said!), said);
    for (const path of ['approve', 'reject'])
      t.true(text.includes(`${PUBLIC_URL}/v1/settings/rotations/${rotationId}/${path}`));
    t.regex(messageId, /^<[^<>\s@]+@flock\.example\.com>$/);
    t.notRegex(`${subject}${text}`, /[0-9a-f]{64}|xpub|whsec_|flk_(?:live|test)_|eyJ/);
    t.is(letterOf({ ...MAIL, kind: 'edge_offline' }, PUBLIC_URL), null);
  },
);

test.serial('the name of an organization breaks no header and no line', async (t) => {
  const smtp = await startSmtp(t);
  const organization = 'Acme\r\nBcc: eve@example.com\u2028\u202e\n\nPay here';
  const letter = letterOf({ ...MAIL, organization }, PUBLIC_URL)!;
  t.notRegex(letter.subject, /[\r\n\u2028\u202e]/);
  const transport = smtpTransport(smtp.url, FROM);
  await transport.send(letter);
  t.deepEqual(smtp.taken[0]!.to, ['ada@example.com']);
  t.notRegex(smtp.taken[0]!.message.split('\r\n\r\n')[0]!, /^Bcc:/im);
  transport.close();
});

test('console B16 (faults 30: one warning for each worker): a warning is one letter to each owner, however often it is written', async (t) => {
  const { live, owners } = await rotation();
  const warning = (threshold: number) =>
    write(stores, live, [
      {
        table: 'quota_warnings',
        row: { period: '2026-06', quota: 'addresses', threshold, used: threshold, of: 100 },
        key: String(threshold),
      },
    ]);
  await Promise.all([warning(80), warning(80)].map((work) => work.catch(() => undefined)));
  await warning(80);
  await warning(100);
  const rows = await database.owner<{ recipient: string; threshold: string; facts: Record<string, string> }[]>`
    select recipient, facts ->> 'threshold' as threshold, facts from letter where kind = 'quota_warning' order by 2, 1`;
  t.deepEqual(
    rows.map(({ recipient, threshold }) => `${threshold} ${recipient}`),
    ['100', '80'].flatMap((threshold) => owners.map((owner) => `${threshold} ${owner}`)),
  );
  const words = peopleLetterOf(
    { kind: 'quota_warning', recipient: owners[0]!, token: null, facts: rows.at(-1)!.facts },
    PUBLIC_URL,
  )!;
  t.is(words.subject, 'Your plan: active addresses at 80 %');
  t.regex(words.text, /Test uses 80 of 100 active addresses of its plan in 2026-06/);
});
