/**
 * The edge's Ed25519 signature on a request, over HTTP and in the stream's handshake. Order: skew, host, signature,
 * pinned key, nonce; the body is compared with the signed digest when it has been read. Spec §5.3, decisions 2.
 */
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { EdgeStore } from '../../../model/ports/edge-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { NONCE_KEEP_SECONDS, SIGNATURE_SKEW_SECONDS } from '../../../protocol/frames.ts';
import { isSignatureOf, parseSignature } from '../../../protocol/node/http-signature.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Accounts } from '../../../model/ports/accounts.ts';
import type { Authorities } from './authorities.ts';

export interface SignedHead {
  readonly method: string;
  readonly authority: string;
  readonly path: string;
  /** `?…`, a bare `?` where there is none. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export interface VerifiedSignature {
  readonly publicKey: string;
  readonly contentDigest: string;
}

export interface EdgeSignatures {
  /**
   * Verifies the signature of an account's request; null when there is none and none is needed.
   * `pin` false: any sound key may sign (sync, whose new identity the account then holds back).
   * `admit` is asked before anything is stored, with whether the key is the pinned one.
   * Refuses: EDGE_SIGNATURE_SKEW, EDGE_SIGNATURE_INVALID, IDENTITY_ROTATION_PENDING, EDGE_NONCE_REPLAY, as `admit`.
   */
  verify(
    head: SignedHead,
    accountId: AccountId,
    needs: { required: boolean; pin: boolean },
    admit?: (isPinned: boolean) => Promise<Refusal | null>,
  ): Promise<VerifiedSignature | null | Refusal>;
}

const NAMES = ['signature-input', 'signature', 'content-digest'] as const;

export function createEdgeSignatures(deps: {
  edge: Pick<EdgeStore, 'claimNonce'>;
  accounts: Pick<Accounts, 'ask'>;
  nowMs: () => number;
  /** The hosts that a signature may be for; any where absent. */
  authorities?: Authorities;
}): EdgeSignatures {
  return {
    async verify(head, accountId, { required, pin }, admit = letIn) {
      const [input, text, contentDigest] = NAMES.map((name) => head.headers[name]);
      if (input === undefined && text === undefined && !required) return admit(false);
      const invalid = (reason: string) => refuse('EDGE_SIGNATURE_INVALID', { reason });
      if (typeof input !== 'string' || typeof text !== 'string' || typeof contentDigest !== 'string') {
        return invalid('headers');
      }
      const signature = parseSignature(input, text);
      if (signature === null) return invalid('form');
      const nowMs = deps.nowMs();
      if (Math.abs(Math.floor(nowMs / 1_000) - signature.createdSeconds) > SIGNATURE_SKEW_SECONDS) {
        return refuse('EDGE_SIGNATURE_SKEW', {
          maxSeconds: SIGNATURE_SKEW_SECONDS,
          serverTime: new Date(nowMs).toISOString(),
        });
      }
      const hosts = deps.authorities?.formsOf(head.authority) ?? [head.authority];
      if (hosts.length === 0) return anotherHost(deps.authorities!);
      if (!hosts.some((authority) => isSignatureOf(signature, { ...head, authority, contentDigest })))
        return invalid('signature');
      const key = await standingOf(deps.accounts, accountId, signature.keyId);
      const refusal = (pin ? key.refusal : null) ?? (await admit(key.isPinned));
      if (refusal !== null) return refusal;
      const first = await deps.edge.claimNonce(signature.keyId, signature.nonce, nowMs + NONCE_KEEP_SECONDS * 1_000);
      return first ? { publicKey: signature.keyId, contentDigest } : refuse('EDGE_NONCE_REPLAY');
    },
  };
}

function anotherHost({ expected }: Authorities): Refusal {
  return refuse(
    'EDGE_SIGNATURE_INVALID',
    { reason: 'authority', expected, setting: 'CLOUD_URL' },
    'the request is for another host than this cloud: CLOUD_URL of an edge is PUBLIC_URL of the cloud, or a host of its PUBLIC_AUTHORITIES',
  );
}

const letIn = async (): Promise<null> => null;

/**
 * Whether a key is the pinned one, and what one that is not gets; before enrolment there is none, and the account says
 * what is missing.
 */
async function standingOf(
  accounts: Pick<Accounts, 'ask'>,
  accountId: AccountId,
  publicKey: string,
): Promise<{ readonly isPinned: boolean; readonly refusal: Refusal | null }> {
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  if (answer.ok !== true) return { isPinned: false, refusal: isRefusal(answer) ? answer : null };
  const { enrolment, rotation } = answer.reply as AccountState;
  if (enrolment === null) return { isPinned: false, refusal: null };
  if (enrolment.publicKey === publicKey) return { isPinned: true, refusal: null };
  const refusal =
    rotation === null
      ? refuse('EDGE_SIGNATURE_INVALID', { reason: 'not the pinned key' })
      : refuse('IDENTITY_ROTATION_PENDING', { rotationId: rotation.id });
  return { isPinned: false, refusal };
}
