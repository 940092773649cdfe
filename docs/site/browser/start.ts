/** What the pages do beyond being read: tabs of languages, copies of code, theme, menu on a phone, search. */
import { make } from './dom.ts';
import { openSearch } from './search-box.ts';

const own = document.currentScript as HTMLScriptElement;
const root = own.dataset['root'] ?? '';

const LANGUAGE = 'flock-docs-language';

/** One language at a time; the one that is chosen is chosen everywhere, also on the next page. */
function tabs(): void {
  const wanted = localStorage.getItem(LANGUAGE);
  let number = 0;
  for (const box of document.querySelectorAll<HTMLElement>('.tabs')) {
    const figures = [...box.querySelectorAll<HTMLElement>(':scope > figure')];
    if (figures.length < 2) continue;
    const bar = make('div', { role: 'tablist', 'aria-label': 'Choose what is shown' });
    const buttons = figures.map((figure) => {
      const id = `tab-${(number += 1)}`;
      const caption = figure.querySelector('figcaption');
      const title = caption?.textContent ?? '';
      caption?.remove();
      figure.setAttribute('role', 'tabpanel');
      figure.setAttribute('aria-labelledby', id);
      figure.id = `${id}-panel`;
      const button = make('button', { role: 'tab', id, type: 'button', 'aria-controls': figure.id }, title);
      button.addEventListener('click', () => choose(title, box));
      return button;
    });
    bar.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step === undefined) return;
      const at = buttons.findIndex((one) => one === document.activeElement);
      const next = buttons[(at + step + buttons.length) % buttons.length]!;
      next.click();
      next.focus();
    });
    bar.append(...buttons);
    box.prepend(bar);
    const titles = buttons.map(({ textContent }) => textContent);
    show(box, wanted !== null && titles.includes(wanted) ? wanted : titles[0]!);
  }
}

function show(box: HTMLElement, title: string): void {
  const buttons = [...box.querySelectorAll<HTMLElement>('[role=tab]')];
  if (!buttons.some(({ textContent }) => textContent === title)) return;
  for (const button of buttons) {
    const on = button.textContent === title;
    button.setAttribute('aria-selected', String(on));
    button.tabIndex = on ? 0 : -1;
    document.getElementById(button.getAttribute('aria-controls')!)!.hidden = !on;
  }
}

function choose(title: string, box: HTMLElement): void {
  const before = box.getBoundingClientRect().top;
  const isLanguage = ['curl', 'TypeScript', 'Python', 'Go', 'flock'].includes(title);
  for (const each of isLanguage ? document.querySelectorAll<HTMLElement>('.tabs') : [box]) show(each, title);
  if (isLanguage) localStorage.setItem(LANGUAGE, title);
  window.scrollBy(0, box.getBoundingClientRect().top - before); // what is pressed stays where it is
}

function copies(): void {
  if (navigator.clipboard === undefined) return; // no copy without a secure page
  for (const figure of document.querySelectorAll<HTMLElement>('figure.code')) {
    const button = make('button', { class: 'copy', type: 'button' }, 'Copy');
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code')!.textContent);
      button.textContent = 'Copied';
      setTimeout(() => (button.textContent = 'Copy'), 1_500);
    });
    figure.append(button);
  }
}

function themes(tools: HTMLElement): void {
  const button = make('button', { class: 'theme', type: 'button', 'aria-label': 'Light or dark' }, '◐');
  button.addEventListener('click', () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === 'dark';
    document.documentElement.dataset['theme'] = dark ? 'light' : 'dark';
    localStorage.setItem('flock-docs-theme', dark ? 'light' : 'dark');
  });
  tools.append(button);
}

/** On a phone the pages of a part are behind a button. */
function menu(): void {
  const details = document.querySelector<HTMLDetailsElement>('.side .menu');
  const here = document.querySelector<HTMLElement>('.side [aria-current]');
  if (details === null) return;
  details.addEventListener('toggle', () => details.parentElement!.classList.toggle('open', details.open));
  if (here !== null && matchMedia('(min-width: 60rem)').matches) {
    const bar = here.closest<HTMLElement>('.side')!;
    bar.scrollTop = here.offsetTop - bar.clientHeight / 3;
  }
}

/** The heading that is read is marked in the list beside. */
function follow(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.toc a')].map((one) => [one.hash.slice(1), one]),
  );
  if (links.size === 0) return;
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        for (const one of links.values()) one.removeAttribute('aria-current');
        links.get(target.id)?.setAttribute('aria-current', 'true');
      }
    },
    { rootMargin: '-80px 0px -70% 0px' },
  );
  for (const id of links.keys()) {
    const heading = document.getElementById(decodeURIComponent(id));
    if (heading !== null) seen.observe(heading);
  }
}

/** Errors of clients name `/docs#createAddress`. */
function forward(): void {
  const name = /^#([a-z][A-Za-z0-9]+)$/.exec(location.hash)?.[1];
  if (document.body.classList.contains('home') && name !== undefined) location.replace(`${root}api/${name}.html`);
}

forward();
tabs();
copies();
const tools = document.querySelector<HTMLElement>('.tools')!;
openSearch(tools, root, own.dataset['index']!);
themes(tools);
menu();
follow();
