/** What a person does at the console, for the tests that look over the shoulder. */
import type { Page } from 'playwright-core';
import { codeOf, type Person, type TestCloud } from '../gateway.ts';

const POLL_MS = 25;
const SHOWN_MS = 60_000;
/** Far more stops than a page has. */
const TABS_MAX = 120;

/** Resolves when the page has its heading and nothing of it is still being read. Throws: Error with what is there. */
export async function hasCome(page: Page): Promise<void> {
  const deadline = performance.now() + SHOWN_MS;
  for (;;) {
    const isThere = await page.evaluate(
      `document.querySelector(':is(h1, .empty-title):not([data-left])') !== null && document.querySelector('.skeleton') === null`,
    );
    if (isThere === true) return;
    if (performance.now() > deadline) throw new Error(`not shown: ${await page.locator('body').innerText()}`);
    await page.waitForTimeout(POLL_MS);
  }
}

/**
 * To another page of the console as by its links: nothing is loaded anew, which costs a second of CPU. For tests of
 * what a page shows; not of what a load keeps.
 */
export async function turnTo(page: Page, path: string): Promise<void> {
  await page.evaluate(`(async () => {
    if (location.pathname !== new URL(${JSON.stringify(path)}, location.href).pathname)
      for (const one of document.querySelectorAll('h1, .empty-title')) one.dataset.left = '';
    history.pushState(null, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate'));
    // What follows the next paint has happened: the title of the page too.
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
  })()`);
  await hasCome(page);
}

const STEP_MS = 30_000;
const spent = new Map<string, number>();

/** A code that counts: each counts once, none before one that was used, and the next one already now. */
export async function unspentCode(page: Page, { totpSecret }: { totpSecret: string }): Promise<string> {
  const step = (spent.get(totpSecret) ?? 0) + 1;
  while (Math.floor(Date.now() / STEP_MS) + 1 < step) await page.waitForTimeout(POLL_MS);
  const now = Math.floor(Date.now() / STEP_MS),
    used = Math.max(step, now);
  spent.set(totpSecret, used);
  return codeOf({ totpSecret }, used - now);
}

/** Email, password and, where there is a second factor, its code: what the sign-in page asks for. */
export async function signIn(page: Page, who: { email: string; password: string; totpSecret?: string }): Promise<void> {
  await page.getByLabel('Email').fill(who.email);
  await page.getByLabel('Password').fill(who.password);
  await page.keyboard.press('Enter');
  if (who.totpSecret !== undefined) {
    const { totpSecret } = who;
    await page.getByLabel('Code of your authenticator app').fill(await unspentCode(page, { totpSecret }));
    await page.keyboard.press('Enter');
  }
  await page.locator('.frame h1').waitFor();
  await hasCome(page);
}

const hasFocus = (element: { ownerDocument: { activeElement: unknown } }): boolean =>
  element.ownerDocument.activeElement === element;

/** Presses buttons and links by their names, with the mouse or by the keyboard alone, and counts. */
export function pressing(page: Page, way: 'mouse' | 'keyboard') {
  let count = 0;
  return {
    presses: () => count,
    /** Waits until it is there. Throws: Error when the keyboard does not reach it. */
    async press(role: 'button' | 'link', name: string): Promise<void> {
      const target = page.getByRole(role, { name, exact: true });
      await target.waitFor();
      count += 1;
      if (way === 'mouse') return target.click();
      for (let tabs = 0; tabs < TABS_MAX; tabs++) {
        if (await target.evaluate(hasFocus)) return page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
      }
      throw new Error(`${TABS_MAX} tabs do not reach the ${role} ${name}`);
    },
  };
}

/** Presses a button whose request may ask for a code first, and resolves when `done` is on the page. */
export const deciding =
  ({ database }: Pick<TestCloud, 'database'>) =>
  async (page: Page, who: Person, button: string | RegExp, done: () => Promise<unknown>): Promise<void> => {
    // A page that was loaded anew asks for a factor anew; each step of the clock is taken once.
    await database.admin.unsafe(`set session_replication_role = replica;
      update flock.console_user set totp_last_step = 0 where id = '${who.id}'; set session_replication_role = origin`);
    await page.getByRole('button', { name: button, exact: true }).click();
    const code = page.getByLabel('Code of your authenticator app');
    let isDone = false;
    const finished = done().then(() => {
      isDone = true;
    });
    const asked = code.waitFor({ timeout: 60_000 }).then(async () => {
      // The code that a later button asks for is typed once, and not by this one as well.
      if (isDone) return;
      await code.fill(codeOf(who));
      await page.keyboard.press('Enter');
    });
    asked.catch(() => undefined);
    await Promise.race([finished, asked]);
    await finished;
  };
