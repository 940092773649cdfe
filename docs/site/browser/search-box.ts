/** The box of the search: opened by its button, by `/` or by Ctrl-K; walked by the arrow keys. */
import { make } from './dom.ts';
import { createSearch, type Hit } from './search.ts';

declare global {
  var flockIndex: string | undefined;
}

const isMac = navigator.platform.startsWith('Mac');

/** A script and no request for data, so that the pages also search when they are opened from a folder. */
function load(address: string): Promise<ReturnType<typeof createSearch>> {
  return new Promise((resolve, reject) => {
    const script = make('script', { src: address });
    script.addEventListener('load', () => resolve(createSearch(globalThis.flockIndex!)));
    script.addEventListener('error', () => reject(new Error('the index did not load')));
    document.head.append(script);
  });
}

export function openSearch(tools: HTMLElement, root: string, address: string): void {
  const input = make('input', {
    type: 'search',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'hits',
    'aria-autocomplete': 'list',
    'aria-label': 'Search the documentation',
    placeholder: 'Search operations, events, errors, settings …',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = make('ul', { id: 'hits', role: 'listbox', 'aria-label': 'Results' });
  const said = make('p', { class: 'said', role: 'status' });
  const dialog = make('dialog', { class: 'search', 'aria-label': 'Search' }, input, said, list);
  const button = make(
    'button',
    { class: 'find', type: 'button' },
    make('span', {}, 'Search'),
    make('kbd', { 'aria-hidden': 'true' }, isMac ? '⌘K' : 'Ctrl K'),
  );
  let search: ReturnType<typeof load> | null = null;
  let at = 0;

  const mark = (): void => {
    const rows = [...list.children];
    rows.forEach((row, index) => row.setAttribute('aria-selected', String(index === at)));
    input.setAttribute('aria-activedescendant', rows.length === 0 ? '' : `hit-${at}`);
    rows[at]?.scrollIntoView({ block: 'nearest' });
  };
  const show = (hits: readonly Hit[]): void => {
    at = 0;
    list.replaceChildren(...hits.map((hit, index) => rowOf(hit, index, root)));
    input.setAttribute('aria-expanded', String(hits.length > 0));
    said.textContent =
      input.value.trim() === '' ? '' : hits.length === 0 ? 'Nothing is found.' : `${hits.length} results`;
    mark();
  };
  const open = (): void => {
    search ??= load(address);
    if (!dialog.open) dialog.showModal();
    input.select();
  };

  button.addEventListener('click', open);
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close());
  input.addEventListener('input', async () => {
    try {
      const asked = input.value;
      const find = await search!;
      if (asked === input.value) show(find(asked));
    } catch {
      search = null;
      said.textContent = 'The index did not load. Close the search and open it again.';
    }
  });
  input.addEventListener('keydown', (event) => {
    const rows = list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && rows > 0) {
      event.preventDefault();
      at = (at + step + rows) % rows;
      mark();
    } else if (event.key === 'Enter') {
      list.children[at]?.querySelector('a')?.click();
    }
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    const asks =
      (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping && !event.ctrlKey);
    if (!asks) return;
    event.preventDefault();
    open();
  });
  tools.append(button);
  document.body.append(dialog);
}

function rowOf({ title, page, href, part }: Hit, index: number, root: string): HTMLElement {
  const words = page === title || page === '' ? part : `${part} · ${page}`;
  const link = make('a', { href: `${root}${href}`, tabindex: '-1' }, make('b', {}, title), make('small', {}, words));
  return make('li', { role: 'option', id: `hit-${index}` }, link);
}
