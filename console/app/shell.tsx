/** What surrounds every page: organization, environment, navigation, who is signed in. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { SignIn } from '../pages/sign-in.tsx';
import { CodeDialog } from '../ui/code-dialog.tsx';
import { Field, Form, useSend } from '../ui/form.tsx';
import { SearchBox } from '../ui/search-box.tsx';
import { Empty, Skeleton } from '../ui/states.tsx';
import { plain, utc, words } from '../ui/text.ts';
import { Wordmark } from '../ui/wordmark.tsx';
import { ask, type Scope } from './ask.ts';
import { isAway, isOnline } from './live.ts';
import { BASE, go, hrefOf, pageKey, place } from './location.ts';
import { ADMIN_PAGES, OPEN_PAGES, OWN_PAGES, pageAt, PAGES, type PageEntry } from './pages.ts';
import type { PageComponent } from './page.ts';
import { leaveReading, login, organizations, reading, readOrganizations, session, signOut } from './session.ts';

/** The organization and environment of the address; null outside of any. */
function scopeOf(): Scope | null {
  const { organizationId, environment } = place.value;
  return organizationId === null || environment === null ? null : { organizationId, environment };
}

export function App(): JSX.Element {
  const now = session.value;
  if (now.state === 'starting')
    return (
      <div class="start">
        <Skeleton rows={3} />
      </div>
    );
  if (scopeOf() === null && pageAt(OPEN_PAGES, place.value.path) !== null)
    return (
      <>
        <Current scope={null} />
        <CodeDialog />
      </>
    );
  if (now.state === 'out') return <SignIn ended={now.ended} />;
  return (
    <>
      <Signed />
      <CodeDialog />
    </>
  );
}

function Signed(): JSX.Element {
  const scope = scopeOf();
  const isOwn = pageAt([...OWN_PAGES, ...ADMIN_PAGES], place.value.path) !== null && scope === null;
  const home = login.value?.organizationId ?? organizations.value[0]?.id ?? null;
  useEffect(() => {
    if (place.peek().organizationId !== null) return; // somebody was faster
    if (scope === null && !isOwn && home !== null)
      go(hrefOf({ organizationId: home, environment: 'sandbox' }, '/'), { replace: true });
    if (scope === null && !isOwn && home === null && login.value?.isAdmin === true)
      go(`${BASE}/admin`, { replace: true });
  }, [scope === null, isOwn, home]);
  if (scope === null && !isOwn) return <NoOrganization />;
  return <Frame scope={scope} />;
}

const focusOn = (input: HTMLInputElement | null): void => input?.focus();

/** The first step after a sign-up. Console C18. */
function NoOrganization(): JSX.Element {
  document.title = 'Your organization · Flock';
  const sending = useSend(
    ({ name = '' }, idempotencyKey) => ask('createOrganization', null, { idempotencyKey, body: { name: name.trim() } }),
    async ({ id }) => {
      await readOrganizations();
      go(hrefOf({ organizationId: id, environment: 'sandbox' }, '/edge/setup'), { replace: true });
    },
  );
  return (
    <main class="sign-in">
      <div class="sign-in-box">
        <Wordmark />
        <h1>Your organization</h1>
        <p>You own what you found here. It begins on the free plan, with a sandbox beside the live account.</p>
        <Form sending={sending} label="Found it">
          <Field label="Name" name="name" required maxLength={120} autofocus inputRef={focusOn} />
        </Form>
        <p class="faint">To work in an organization that exists, ask an owner of it to invite you.</p>
        <p>
          <button type="button" class="link" onClick={() => void signOut()}>
            Sign out
          </button>
        </p>
      </div>
    </main>
  );
}

function Frame({ scope }: { scope: Scope | null }): JSX.Element {
  const [open, setOpen] = useState(false);
  const isSandbox = scope?.environment === 'sandbox';
  useEffect(() => setOpen(false), [pageKey.value]);
  useEffect(() => {
    document.documentElement.dataset['environment'] = scope?.environment ?? 'none';
  }, [scope?.environment]);
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the page
      </a>
      <Reading />
      {isSandbox && (
        <p class="sandbox-band">
          <b>Sandbox</b> <span>Simulated chains. Nothing here is worth money.</span>
        </p>
      )}
      <aside class={open ? 'side open' : 'side'}>
        <div class="side-top">
          <a class="brand" href={scope === null ? `${BASE}/` : hrefOf(scope, '/')} aria-label="Flock, overview">
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d="M3 15c2.5-4 5-4 6.5-.7C11 11 13.5 11 16 15M10 8.5c1.600-2.400 3.200-2.400 4.400-.4 1.200-2 2.800-2 4.400.4" />
            </svg>
            Flock
          </a>
          <button
            type="button"
            class="button small menu"
            aria-expanded={open}
            aria-controls="side-nav"
            onClick={() => setOpen(!open)}
          >
            Menu
          </button>
        </div>
        <div class="side-body" id="side-nav">
          {scope !== null && <Switches scope={scope} />}
          {scope !== null && <SearchBox scope={scope} />}
          <Navigation scope={scope} />
          <Person scope={scope} />
        </div>
      </aside>
      <main id="main" tabIndex={-1}>
        {scope !== null && <NotLive />}
        <Current scope={scope} />
      </main>
    </div>
  );
}

/** Says that nothing is heard, and what the page does instead. Console C15. */
function NotLive(): JSX.Element {
  return (
    <p class={isAway.value ? 'not-live' : 'visually-hidden'} role="status">
      {isAway.value &&
        (isOnline.value
          ? 'Live updates are away. This page reads by itself every 15 seconds until they are back.'
          : 'This browser is offline. What you see is the last that was read.')}
    </p>
  );
}

/** Whom staff reads, on every page: only leaving takes it away. Console A45. */
function Reading(): JSX.Element | null {
  const now = reading.value;
  if (now === null) return null;
  return (
    <div class="reading-band" role="region" aria-label="Support session">
      <b>Staff</b>{' '}
      <span>
        You read <code>{now.organizationId}</code> ({now.environment}) until {utc(now.endsAt)}. Its owners know.
      </span>{' '}
      <button type="button" class="button small" onClick={() => leaveReading(false)}>
        Leave
      </button>
    </div>
  );
}

function Switches({ scope }: { scope: Scope }): JSX.Element {
  const { path } = place.value;
  const environments = reading.value === null ? (['live', 'sandbox'] as const) : [reading.value.environment];
  const kept = (environment: Scope['environment']): string => {
    const found = pageAt(PAGES, path);
    // A page about one thing, or of the sandbox alone, has no twin in the other environment.
    const twin =
      found === null || (path.split('/').length > 2 && found.page.path.includes(':')) || found.page.only !== undefined
        ? '/'
        : path;
    return hrefOf({ ...scope, environment }, twin);
  };
  return (
    <div class="switches">
      <label>
        <span class="visually-hidden">Organization</span>
        <select
          value={scope.organizationId}
          onChange={(event) => go(hrefOf({ ...scope, organizationId: event.currentTarget.value }, '/'))}
        >
          {organizations.value.map(({ id, name }) => (
            <option key={id} value={id} selected={id === scope.organizationId}>
              {plain(name)}
            </option>
          ))}
        </select>
      </label>
      <nav class="environments" aria-label="Environment">
        {environments.map((environment) => (
          <a
            key={environment}
            href={kept(environment)}
            class={environment}
            aria-current={environment === scope.environment ? 'true' : undefined}
          >
            {words(environment)}
          </a>
        ))}
      </nav>
    </div>
  );
}

function Navigation({ scope }: { scope: Scope | null }): JSX.Element {
  const { path } = place.value;
  const shown = (page: PageEntry): boolean =>
    page.group !== undefined && (page.only === undefined || page.only === scope?.environment);
  const entries = [
    ...(scope === null ? [] : PAGES.filter(shown).map((page) => ({ ...page, href: hrefOf(scope, page.path) }))),
    ...(login.value?.isAdmin === true ? ADMIN_PAGES.map((page) => ({ ...page, href: `${BASE}${page.path}` })) : []),
  ];
  // Pages about oneself are in no organization: the way back leads into each.
  if (scope === null)
    entries.unshift(
      ...organizations.value.map(({ id, name }) => ({
        ...PAGES[0]!,
        title: plain(name),
        path: id,
        group: 'Organizations',
        href: hrefOf({ organizationId: id, environment: 'sandbox' }, '/'),
      })),
    );
  const groups = [...new Set(entries.map(({ group }) => group))];
  const isHere = (entry: PageEntry): boolean =>
    entry.path === path ||
    (entry.path !== '/' && entry.path !== '/edge' && entry.path !== '/admin' && path.startsWith(`${entry.path}/`));
  return (
    <nav class="pages" aria-label="Pages">
      {groups.map((group) => (
        <div key={group}>
          {group !== '' && <p class="nav-group">{group}</p>}
          <ul>
            {entries
              .filter((entry) => entry.group === group)
              .map((entry) => (
                <li key={entry.path}>
                  <a href={entry.href} aria-current={isHere(entry) ? 'page' : undefined}>
                    {entry.title}
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Person({ scope }: { scope: Scope | null }): JSX.Element {
  const role = login.value?.role ?? null;
  return (
    <div class="person">
      {scope !== null && role !== null && (
        <p class="faint">
          You {reading.value === null ? 'are' : 'read as'}{' '}
          {role === 'owner' ? 'an owner' : role === 'editor' ? 'an editor' : 'a viewer'}
        </p>
      )}
      <p>
        <a href={`${BASE}/profile`}>Profile</a>
        <a href="/docs/" target="_blank" rel="noopener">
          API reference
        </a>
        <button type="button" class="link" onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
    </div>
  );
}

const NOWHERE: Scope = { organizationId: '', environment: 'live' };

/** Pages whose script is here: the next visit waits for none. */
const here = new Map<PageEntry, PageComponent>();

/** The page of the address. What it shows is keyed by the whole place, so that nothing of another one survives. */
function Current({ scope }: { scope: Scope | null }): JSX.Element {
  const found = pageAt(scope === null ? [...OPEN_PAGES, ...OWN_PAGES, ...ADMIN_PAGES] : PAGES, place.value.path);
  const [, setCame] = useState<PageEntry | null>(null);
  const page = found?.page ?? null;
  useEffect(() => {
    if (page === null || here.has(page)) return;
    let isShown = true;
    void page.load().then((Page) => {
      here.set(page, Page);
      if (isShown) setCame(page);
    });
    return () => {
      isShown = false;
    };
  }, [page]);
  useEffect(() => {
    const where = scope?.environment === 'sandbox' ? '[Sandbox] ' : '';
    document.title = `${where}${found?.page.title ?? 'Not found'} · Flock`;
  }, [page, scope?.environment]);
  if (found === null || (found.page.only !== undefined && found.page.only !== scope?.environment)) {
    return (
      <Empty
        title="There is no such page"
        action={
          <a class="button" href={scope === null ? `${BASE}/` : hrefOf(scope, '/')}>
            To the overview
          </a>
        }
      >
        The address may be of an older version of the console, or of the other environment.
      </Empty>
    );
  }
  const Page = here.get(found.page);
  if (Page === undefined) return <Skeleton />;
  return <Page key={pageKey.value} scope={scope ?? NOWHERE} params={found.params} />;
}
