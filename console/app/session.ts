/**
 * Who is signed in. The access token is in memory only; the refresh cookie is the browser's, and tabs use it one after
 * the other. Console C4.
 */
import { computed, signal } from '@preact/signals';
import { createClient, type Answered } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { BASE } from './place.ts';
import type { OrgRole } from '../../protocol/slugs.ts';

type Token = ReplyOf<'login'>;
export type Organization = ReplyOf<'listOrganizations'>['content'][number];

export interface Login {
  readonly accessToken: string;
  /** By the clock of this browser. */
  readonly endsAtMs: number;
  readonly organizationId: string | null;
  readonly role: OrgRole | null;
  readonly userId: string;
  readonly isAdmin: boolean;
}

export type Session =
  | { readonly state: 'starting' }
  | { readonly state: 'out'; readonly ended: boolean }
  | { readonly state: 'in'; readonly login: Login };

export const session = signal<Session>({ state: 'starting' });
export const login = computed(() => (session.value.state === 'in' ? session.value.login : null));
/** What staff reads in this tab; null for everybody else. Gone with the tab, and never renewed. Console A45. */
export const reading = signal<ReplyOf<'startSupportSession'> | null>(null);
export const organizations = signal<readonly Organization[]>([]);

/** The client without a credential, on the origin that the console came from. */
export const open = createClient({ baseUrl: window.location.origin });

/** This tab reads as a viewer of an organization, until it is left or its time is over. */
export function readAs(begun: ReplyOf<'startSupportSession'>): void {
  const { organizationId, accessToken, endsAt } = begun;
  const now = login.peek();
  reading.value = begun;
  organizations.value = [{ id: organizationId, name: organizationId, role: 'viewer', createdAt: endsAt }];
  session.value = {
    state: 'in',
    login: {
      ...{ accessToken, organizationId, role: 'viewer', isAdmin: false, userId: now?.userId ?? '' },
      endsAtMs: Date.parse(endsAt) + SPARE_MS,
    },
  };
}

/** Oneself again. The page is loaded anew, so that nothing that was read stays in memory. */
export const leaveReading = (ended: boolean): void =>
  window.location.assign(`${BASE}/admin/support${ended ? '?ended=yes' : ''}`);

/** A token is not used in its last half minute. */
const SPARE_MS = 30_000;
const tabs = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('flock-login');

/** What a token says of itself. The server reads it; here it only decides what is shown. */
function claimsOf(token: string): { sub?: string; platform_role?: string } {
  const part = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  try {
    return JSON.parse(atob(part)) as { sub?: string; platform_role?: string };
  } catch {
    return {};
  }
}

/** Whether this browser may hold a refresh cookie, which no script sees. It saves a request that can only fail. */
const SIGNED = 'flock-signed-in';
function remember(isIn: boolean): void {
  try {
    if (isIn) localStorage.setItem(SIGNED, 'yes');
    else localStorage.removeItem(SIGNED);
  } catch {
    // A browser that keeps nothing asks each time.
  }
}
function mayBeIn(): boolean {
  try {
    return localStorage.getItem(SIGNED) !== null;
  } catch {
    return true;
  }
}

/** Takes a new token. */
export function signedIn({ accessToken, expiresInSeconds, organizationId, role }: Token): Login {
  const claims = claimsOf(accessToken);
  const next: Login = {
    accessToken,
    endsAtMs: Date.now() + expiresInSeconds * 1_000,
    organizationId,
    role,
    userId: claims.sub ?? '',
    isAdmin: claims.platform_role === 'admin',
  };
  remember(true);
  session.value = { state: 'in', login: next };
  return next;
}

function isOut(ended: boolean): void {
  remember(false);
  organizations.value = [];
  session.value = { state: 'out', ended };
}

/** One tab after the other: a refresh token is good once. */
function oneAtATime<T>(work: () => Promise<T>): Promise<T> {
  const { locks } = navigator;
  return locks === undefined ? work() : (locks.request('flock-refresh', work) as Promise<T>);
}

let refreshing: Promise<Login | null> | null = null;

/** A new token by the cookie; null where nobody is signed in any more. Throws: Unreachable. */
export function refresh(): Promise<Login | null> {
  refreshing ??= oneAtATime(() => open.ask('refresh'))
    .then((answer: Answered<Token>) => {
      const { outcome, status } = answer;
      if (!isRefusal(outcome)) return signedIn(outcome);
      if (status !== 401) throw new Unreachable(outcome);
      isOut(session.peek().state === 'in');
      return null;
    })
    .finally(() => {
      refreshing = null;
    });
  return refreshing;
}

/** The service did not say who this is: neither in nor out. */
export class Unreachable extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

const isSpent = ({ endsAtMs }: Login): boolean => Date.now() > endsAtMs - SPARE_MS;

/** A token that is good in an organization; null where nobody is signed in. Throws: Unreachable. */
export async function loginFor(organizationId: string | null): Promise<Login | null> {
  const now = login.peek();
  // The token of a support session is good for what it reads, and comes once.
  if (reading.peek() !== null) return now;
  const held = now === null || isSpent(now) ? await refresh() : now;
  if (held === null || organizationId === null || held.organizationId === organizationId) return held;
  return oneAtATime(async () => {
    // What a page reads begins together: the first of them moves, and the others find it moved.
    const moved = login.peek();
    if (moved !== null && moved.organizationId === organizationId && !isSpent(moved)) return moved;
    const answer = await open
      .with({ bearer: moved?.accessToken ?? held.accessToken })
      .call('switchOrganization', { body: { organizationId } });
    return isRefusal(answer) ? held : signedIn(answer);
  });
}

/** Reads the organizations of the user. */
export async function readOrganizations(): Promise<readonly Organization[]> {
  const held = await loginFor(null);
  if (held === null) return [];
  const answer = await open.with({ bearer: held.accessToken }).call('listOrganizations');
  if (!isRefusal(answer)) organizations.value = answer.content;
  return organizations.value;
}

export async function signOut(): Promise<void> {
  await oneAtATime(() => open.call('logout'));
  tabs?.postMessage('out');
  isOut(false);
}

/** Begins: the cookie says who this is. A sign-out in another tab is one here. */
export async function start(): Promise<void> {
  tabs?.addEventListener('message', ({ data }) => {
    if (data === 'out') isOut(false);
  });
  if (!mayBeIn()) return isOut(false);
  try {
    if ((await refresh()) !== null) await readOrganizations();
  } catch {
    isOut(false);
  }
}
