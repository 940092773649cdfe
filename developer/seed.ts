/** The two organizations of developer mode, their people and keys; made once per database. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import type { Plan } from '../model/account/plan.ts';
import { initialAccount } from '../model/account/state.ts';
import { mintApiKey } from '../gateway/http/auth/api-keys.ts';
import { hashPassword } from '../gateway/http/auth/passwords.ts';
import { totpContext } from '../gateway/http/auth/totp.ts';
import { createIdentityStore } from '../persistence/postgres/identity.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import type { IdentityStore } from '../model/ports/identity-store.ts';
import { accountIdOf } from '../protocol/ids.ts';
import { newId } from '../protocol/node/ids.ts';
import type { Environment, OrgRole } from '../protocol/slugs.ts';
import { createSecretBox, parseSealKey } from '../persistence/secret-box.ts';

export interface Person {
  email: string;
  password: string;
  totpSecret: string;
}

export interface DeveloperRecord {
  organizationId: string;
  sandbox: { cloudApiKey: string };
  live: { cloudApiKey: string };
  owner: Person;
  editor: Person;
  viewer: Person;
  admin: Person;
  /** What one administrator asks for, another confirms. */
  admin2: Person;
  other: { organizationId: string; sandbox: { cloudApiKey: string } };
}

const PLAN: Plan = { tier: 'ultimate', band: 'launch', subscription: 'active', paymentsActive: true };
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const TOTP_SECRET_CHARS = 32;

/** 160 random bits in base32, as authenticator apps take them. */
function newTotpSecret(): string {
  return [...randomBytes(TOTP_SECRET_CHARS)].map((byte) => BASE32[byte & 31]).join('');
}

interface Seeding {
  identity: IdentityStore;
  seal(plain: string, context: string): string;
  nowMs: number;
}

async function insertPerson(
  { identity, seal, nowMs }: Seeding,
  name: string,
  admin: boolean,
): Promise<Person & { id: string }> {
  const id = newId('usr', nowMs);
  const person = {
    email: `${name}@example.com`,
    password: randomBytes(12).toString('base64url'),
    totpSecret: newTotpSecret(),
  };
  await identity.insertUser({
    id,
    email: person.email,
    passwordHash: await hashPassword(person.password),
    sealedTotpSecret: seal(person.totpSecret, totpContext(id)),
    totpConfirmed: true,
    platformRole: admin ? 'admin' : null,
  });
  return { id, ...person };
}

async function insertKey(
  { identity, nowMs }: Seeding,
  organizationId: string,
  environment: Environment,
): Promise<string> {
  const { key, hash: keyHash, maskedPrefix } = mintApiKey(environment);
  await identity.insertApiKey({
    id: newId('key', nowMs),
    accountId: accountIdOf(organizationId, environment),
    organizationId,
    environment,
    label: 'developer mode',
    hash: keyHash,
    maskedPrefix,
    createdAtMs: nowMs,
    revokedAtMs: null,
  });
  return key;
}

const withoutId = ({ email, password, totpSecret }: Person): Person => ({ email, password, totpSecret });

/**
 * Reads the record of an earlier start, or seeds the database and writes it (readable by its owner only). One of before
 * there were two administrators is given the second.
 */
export async function seedDeveloperOrganizations({
  databaseUrl,
  secretKey,
  recordFile,
}: {
  databaseUrl: string;
  secretKey: string;
  recordFile: string;
}): Promise<DeveloperRecord> {
  const known = existsSync(recordFile) ? (JSON.parse(readFileSync(recordFile, 'utf8')) as DeveloperRecord) : null;
  if (known?.admin2 !== undefined) return known;
  const keep = (record: DeveloperRecord): DeveloperRecord => {
    writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
    return record;
  };
  const sql = openDatabase({ url: databaseUrl, connections: 1, name: 'flock-seed' });
  try {
    const box = createSecretBox([parseSealKey(secretKey)]);
    const seeding: Seeding = { identity: createIdentityStore(sql, initialAccount), seal: box.seal, nowMs: Date.now() };
    const { identity, nowMs } = seeding;
    const admin2 = withoutId(await insertPerson(seeding, 'admin2', true));
    if (known !== null) return keep({ ...known, admin2 });
    const owner = await insertPerson(seeding, 'owner', false);
    const otherOwner = await insertPerson(seeding, 'other-owner', false);
    const admin = await insertPerson(seeding, 'admin', true);
    const organizationId = newId('org', nowMs);
    const otherId = newId('org', nowMs);
    await identity.createOrganization({ id: organizationId, name: 'Example', createdAtMs: nowMs }, owner.id, PLAN);
    await identity.createOrganization({ id: otherId, name: 'Other', createdAtMs: nowMs }, otherOwner.id, PLAN);
    const member = async (role: OrgRole): Promise<Person> => {
      const person = await insertPerson(seeding, role, false);
      await identity.insertMembership({ userId: person.id, organizationId, role });
      return withoutId(person);
    };
    return keep({
      organizationId,
      sandbox: { cloudApiKey: await insertKey(seeding, organizationId, 'sandbox') },
      live: { cloudApiKey: await insertKey(seeding, organizationId, 'live') },
      owner: withoutId(owner),
      editor: await member('editor'),
      viewer: await member('viewer'),
      admin: withoutId(admin),
      admin2,
      other: { organizationId: otherId, sandbox: { cloudApiKey: await insertKey(seeding, otherId, 'sandbox') } },
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}
