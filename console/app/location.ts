/**
 * Where the reader is: organization, environment, page and filters are the address of the tab, so that back, reload and
 * links keep them. Console C6.
 */
import { computed, signal } from '@preact/signals';
import { BASE, placeOf, queryText, type Place } from './place.ts';

export { BASE, hrefOf } from './place.ts';

const here = (): Place => placeOf(window.location.pathname, window.location.search);
export const place = signal<Place>(here());
/** Changes with the page, and not with its filters. */
export const pageKey = computed(() => {
  const { path, organizationId, environment } = place.value;
  return `${organizationId ?? ''}/${environment ?? ''}${path}`;
});

let leaving: (() => boolean) | null = null;
/** A page that would lose something asks before it is left: false stays. */
export function askBeforeLeaving(may: (() => boolean) | null): void {
  leaving = may;
}

/** Goes to an address of the console. */
export function go(href: string, { replace = false } = {}): void {
  if (leaving !== null && !leaving()) return;
  leaving = null;
  if (replace) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  const before = pageKey.peek();
  place.value = here();
  if (pageKey.peek() !== before && !replace) window.scrollTo(0, 0);
}

/** Changes filters of this page; an undefined one is taken away. A new filter begins at the first page. */
export function filter(changes: Readonly<Record<string, string | undefined>>): void {
  const query: Record<string, string | undefined> = { ...place.peek().query, after: undefined, ...changes };
  go(`${window.location.pathname}${queryText(query)}`);
}

/** Links of the console change the page without loading it again; all others are the browser's. */
export function followLinks(): void {
  window.addEventListener('popstate', () => {
    place.value = here();
  });
  window.addEventListener('beforeunload', (event) => {
    if (leaving !== null) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (link === null || link === undefined || link.target !== '' || link.origin !== window.location.origin) return;
    if (!link.pathname.startsWith(`${BASE}/`) || link.hasAttribute('download')) return;
    event.preventDefault();
    go(`${link.pathname}${link.search}`);
  });
}
