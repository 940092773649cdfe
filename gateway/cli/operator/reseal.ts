/**
 * `flock secrets reseal`: seals every secret at rest again under the first key of SECRET_KEY, so that the older keys
 * can be retired. It may run beside running nodes, as often as one likes: a row that changes meanwhile is left as it is
 * and is read again.
 */
import { webhookSecretContext } from '../../../actors/webhook/sign.ts';
import { signingKeyContext } from '../../http/auth/issuer.ts';
import { totpContext } from '../../http/auth/totp.ts';
import type { SecretBox } from '../../../model/ports/secret-box.ts';
import type {
  SealedColumn,
  SealedKind,
  SealedRow,
  UnreadableHooks,
} from '../../../persistence/postgres/sealed-secrets.ts';

const ROWS_AT_ONCE = 200;
/**
 * A row that changed under our hands is somebody's rotation and is read again; one that still does is the next run's.
 */
const PASSES_MAX = 3;

const CONTEXTS: Readonly<Record<SealedKind, (id: string) => string>> = {
  webhooks: webhookSecretContext,
  totp: totpContext,
  signingKeys: signingKeyContext,
};
const KINDS = Object.keys(CONTEXTS) as SealedKind[];

export interface Resealed {
  /** Rows sealed again, by what they hold. */
  readonly resealed: Readonly<Record<SealedKind, number>>;
  /** Webhook deliveries that were held for a secret that opens now. */
  readonly released: number;
  /** Rows that no key of SECRET_KEY opens, or that changed at every try: `kind id`. */
  readonly left: readonly string[];
}

export interface Resealing {
  readonly columns: Record<SealedKind, SealedColumn>;
  readonly unreadable: UnreadableHooks;
  readonly secrets: SecretBox;
  /** How secrets of the first key begin. */
  readonly prefix: string;
}

/** Gives back what was held for its secret, and seals again what is not under the first key. */
export async function resealAll(resealing: Resealing): Promise<Resealed> {
  const resealed: Record<SealedKind, number> = { webhooks: 0, totp: 0, signingKeys: 0 };
  const left: string[] = [];
  const released = await releaseReadable(resealing);
  for (const kind of KINDS) {
    for (let pass = 1; pass <= PASSES_MAX; pass += 1) {
      const found = await passOver(resealing, kind);
      resealed[kind] += found.resealed;
      const leave = found.changed.length === 0 || pass === PASSES_MAX;
      if (leave) left.push(...[...found.unreadable, ...found.changed].map((id) => `${kind} ${id}`));
      if (leave) break;
    }
  }
  return { resealed, released, left };
}

/** Deliveries of endpoints with a secret that opens: due again. A publisher that lacks the key holds them anew. */
async function releaseReadable({ unreadable, secrets }: Resealing): Promise<number> {
  let released = 0;
  for (let after: Pick<SealedRow, 'account' | 'id'> = { account: '', id: '' }; ;) {
    const rows = await unreadable.list(after, ROWS_AT_ONCE);
    for (const row of rows) {
      if (row.sealed.some((text) => opens(secrets, text, webhookSecretContext(row.id))))
        released += await unreadable.release(row);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return released;
    after = last;
  }
}

/** Goes over the rows of one kind once. */
async function passOver({ columns, secrets, prefix }: Resealing, kind: SealedKind) {
  const found = { resealed: 0, unreadable: [] as string[], changed: [] as string[] };
  for (let after: Pick<SealedRow, 'account' | 'id'> = { account: '', id: '' }; ;) {
    const rows = await columns[kind].sealedOtherwise(prefix, after, ROWS_AT_ONCE);
    for (const row of rows) {
      const fresh = sealAgain(row, secrets, CONTEXTS[kind](row.id), prefix);
      if (fresh === null) found.unreadable.push(row.id);
      else if (await columns[kind].replace(row, fresh)) found.resealed += 1;
      else found.changed.push(row.id);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_AT_ONCE) return found;
    after = last;
  }
}

/** The secrets of a row under the first key; null when no key opens one of them. */
function sealAgain({ sealed }: SealedRow, secrets: SecretBox, context: string, prefix: string): string[] | null {
  try {
    return sealed.map((text) => (text.startsWith(prefix) ? text : secrets.seal(secrets.open(text, context), context)));
  } catch {
    return null;
  }
}

function opens(secrets: SecretBox, sealed: string, context: string): boolean {
  try {
    secrets.open(sealed, context);
    return true;
  } catch {
    return false;
  }
}
