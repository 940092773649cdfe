/**
 * `<flock-pay link="slug" identity="<hex> [<hex>]" environment="live|sandbox" lang theme api>`: a checkout in a
 * merchant's own page. With `identity` no address, code or wallet link is in the document before the statement about it
 * verified against a pinned key; the cloud's words are text, and its links are used only where they are what they seem.
 * payments part 6.
 *
 *   opening     what the link asks for, and a form where it takes payments
 *   open        a payment: the address is shown while it is asked for, and followed: the stream says how it changes
 *               (H7), and asked from time to time, seldom while the stream speaks
 *   unverified  the statement is missing, over, or not of this address: nothing to pay is shown, it is asked again
 */
import { NETWORK_NAMES } from '../../../../protocol/network-names.ts';
import type { ReplyOf } from '../../../../protocol/routes.ts';
import type { Environment } from '../../../../protocol/slugs.ts';
import { fingerprintOf, isMerchants } from './verify.ts';
import { codeOf, element, shown, walletLink } from './parts.ts';
import { STYLE } from './style.ts';
import { directionOf, languageOf, sayIn, type Say } from './words.ts';

type Link = ReplyOf<'getCheckoutLink'>;
type Session = ReplyOf<'getCheckoutSession'>;
type Answer<T> =
  | { readonly data: T; readonly code?: undefined }
  | { readonly data: null; readonly code: string; readonly reason?: unknown };

/** Where this script came from: the page pins its bytes, and it asks no other origin unless `api` says one. */
const OWN_ORIGIN = new URL((document.currentScript as HTMLScriptElement | null)?.src ?? location.href).origin;
const PAUSES_MS = [5_000, 10_000, 15_000];
/** While a stream speaks it asks seldom: a proxy may hold a stream back without a word. */
const HEARD_PAUSE_MS = 60_000;
const KEY = /^[0-9a-f]{64}$/;
const STATES = {
  awaiting_payment: 'awaiting',
  detected: 'detected',
  underpaid: 'underpaid',
  confirmed: 'confirmed',
  late: 'late',
  expired: 'expired',
} as const;

class FlockPay extends HTMLElement {
  static readonly observedAttributes = ['link', 'identity', 'environment', 'lang', 'theme', 'api'];
  readonly #root = this.attachShadow({ mode: 'open' });
  #paymentId: string | null = null;
  /** What the payment was first shown with: it never becomes another one. */
  #address: string | null = null;
  #said = '';
  /** What is in the document, as it was answered: the same is not made again under who reads or types. */
  #shown = '';
  #timer: ReturnType<typeof setTimeout> | null = null;
  #pauses = 0;
  /** Rises with each beginning: an answer of before is not shown. */
  #turn = 0;
  /** Rises with each view that is taken: of two that cross each other the later one counts. */
  #takes = 0;
  #stream: EventSource | null = null;
  /** Whether the stream spoke since it was opened, or broke off last. */
  #isHeard = false;
  /** A payment that may still change. */
  #isOpen = false;
  /** A hidden page holds no stream; one that is back in sight or online asks at once. */
  readonly #wake = (): void => {
    if (!this.#isOpen) return;
    if (document.visibilityState !== 'visible') return this.#unlisten();
    this.#pauses = 0;
    void this.#follow(this.#turn);
  };

  connectedCallback(): void {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.#root.adoptedStyleSheets = [sheet];
    document.addEventListener('visibilitychange', this.#wake);
    for (const event of ['pageshow', 'online']) window.addEventListener(event, this.#wake);
    this.#begin();
  }

  disconnectedCallback(): void {
    document.removeEventListener('visibilitychange', this.#wake);
    for (const event of ['pageshow', 'online']) window.removeEventListener(event, this.#wake);
    this.#stop();
  }

  attributeChangedCallback(): void {
    if (this.isConnected && this.#turn > 0) this.#begin();
  }

  get #api(): string {
    return (this.getAttribute('api') ?? OWN_ORIGIN).replace(/\/+$/, '');
  }
  get #environment(): Environment {
    return this.getAttribute('environment') === 'sandbox' ? 'sandbox' : 'live';
  }
  /** Null where the page pins none; empty where what it pins is no key, which verifies nothing. */
  get #keys(): readonly string[] | null {
    const words = this.getAttribute('identity')?.trim().split(/\s+/);
    if (words === undefined) return null;
    return words.length <= 2 && words.every((word) => KEY.test(word)) ? words : [];
  }
  get #say(): Say {
    return sayIn(this.#language);
  }
  get #language(): string {
    return languageOf([this.getAttribute('lang'), document.documentElement.lang, navigator.language]);
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#turn += 1;
    this.#isOpen = false;
    this.#unlisten();
  }

  #unlisten(): void {
    this.#stream?.close();
    this.#stream = null;
    this.#isHeard = false;
  }

  /** Listens for changes, where a stream comes through. */
  #listen(turn: number): void {
    if (this.#stream !== null && this.#stream.readyState !== EventSource.CLOSED) return;
    if (!this.#isOpen || this.#paymentId === null || document.visibilityState !== 'visible') return;
    const stream = new EventSource(`${this.#api}/v1/checkout/sessions/${encodeURIComponent(this.#paymentId)}/events`);
    this.#stream = stream;
    stream.onmessage = ({ data }: MessageEvent<string>) => {
      const session = sessionIn(data);
      if (turn !== this.#turn || stream !== this.#stream || session === null) return;
      this.#isHeard = true;
      void this.#take(turn, session);
    };
    // It comes back by itself, or with the next look where it was refused. One that never spoke puts no look off.
    stream.onerror = () => {
      if (turn !== this.#turn || stream !== this.#stream || !this.#isHeard) return;
      this.#pauses = 0;
      this.#isHeard = false;
      this.#later(turn);
    };
  }

  #begin(): void {
    this.#stop();
    this.#paymentId = this.#address = null;
    this.#shown = this.#said = '';
    this.#pauses = 0;
    void this.#showLink(this.#turn);
  }

  async #showLink(turn: number): Promise<void> {
    const answer = await this.#ask<Link>(`links/${encodeURIComponent(this.getAttribute('link') ?? '')}`);
    if (turn !== this.#turn) return;
    if (answer.data === null) return this.#failed(answer);
    const { data: link } = answer,
      say = this.#say;
    const text = link.link.title ?? link.merchant.name ?? '';
    const fields: Node[] = [];
    const field = (name: string, label: string, more: Record<string, string>): void => {
      const input = element('input', { name, ...more });
      fields.push(element('label', {}, [label, input]));
    };
    if (link.link.mode === 'donation')
      field('amount', shown(link.asset), { inputmode: 'decimal', autocomplete: 'off' });
    if (link.emailRequired)
      field('email', say('email'), { type: 'email', required: '', maxlength: '254', autocomplete: 'email' });
    const form = element('form', {}, [...fields, element('button', { type: 'submit' }, [say('show')])]);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      const given = new FormData(form as HTMLFormElement);
      void this.#open(turn, link, String(given.get('email') ?? ''), String(given.get('amount') ?? ''));
    });
    this.#render('opening', [
      element('p', { class: 'title', dir: 'auto' }, [shown(text)]),
      ...(link.amount === null ? [] : [this.#amount(link.amount, link.asset)]),
      link.open ? form : element('p', { role: 'status' }, [say('notNow')]),
    ]);
  }

  async #open(turn: number, link: Link, email: string, amount: string): Promise<void> {
    const keys = this.#keys;
    const path = `links/${encodeURIComponent(link.link.slug)}/${link.link.mode === 'fixed' ? 'sessions' : 'donate'}`;
    const body = { ...(email === '' ? {} : { email }), ...(amount === '' ? {} : { amount }), lang: this.#language };
    let answer: Answer<Session> = await this.#ask<Session>(path, await namedBy(body, keys?.[0]));
    // While an identity is replaced the page pins both, and the account has one of them.
    if (answer.data === null && answer.code === 'MERCHANT_SCOPE_VIOLATION' && keys?.[1] !== undefined)
      answer = await this.#ask<Session>(path, await namedBy(body, keys[1]));
    if (turn !== this.#turn) return;
    if (answer.data === null) return this.#failed(answer);
    this.#paymentId = answer.data.paymentId;
    this.#isOpen = this.#paymentId !== null;
    await this.#take(turn, answer.data);
    if (turn === this.#turn) this.#listen(turn);
  }

  async #follow(turn: number): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const before = this.#takes;
    const answer = await this.#ask<Session>(`sessions/${encodeURIComponent(this.#paymentId!)}`);
    if (turn !== this.#turn) return;
    // What was heard meanwhile is newer.
    if (answer.data === null || this.#takes !== before) this.#later(turn);
    else await this.#take(turn, answer.data);
    if (turn === this.#turn) this.#listen(turn);
  }

  #later(turn: number): void {
    if (!this.#isOpen) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    const pause = this.#isHeard ? HEARD_PAUSE_MS : PAUSES_MS[Math.min(this.#pauses, PAUSES_MS.length - 1)];
    this.#pauses += 1;
    this.#timer = setTimeout(() => void (document.visibilityState === 'visible' && this.#follow(turn)), pause);
  }

  async #take(turn: number, session: Session): Promise<void> {
    this.#takes += 1;
    const mine = this.#takes;
    const keys = this.#keys;
    const asks = session.status === 'awaiting_payment' || session.status === 'underpaid';
    const isGood =
      session.paymentId === this.#paymentId &&
      (this.#address === null || this.#address === session.address) &&
      (keys === null || (await isMerchants(session, keys, this.#environment, Date.now())));
    if (turn !== this.#turn || mine !== this.#takes) return;
    const { serverTime: _now, attestation: _statement, ...what } = session,
      showing = JSON.stringify([asks, isGood, what]);
    if (showing === this.#shown) return this.#later(turn);
    this.#shown = showing;
    if (asks && !isGood) {
      this.#render('unverified', [element('p', { role: 'alert', class: 'alert' }, [this.#say('unverified')])]);
      this.#tell('flock-error', { code: 'unverified' });
    } else {
      if (asks) this.#address = session.address;
      this.#render(session.status, this.#paymentOf(session, asks));
      const { paymentId, status, amountPaid, amountRemaining } = session;
      this.#tell('flock-state', { paymentId, status, amountPaid, amountRemaining });
    }
    if (session.status !== 'confirmed' || session.transfers.some(({ status }) => status === 'detected'))
      return this.#later(turn);
    this.#isOpen = false;
    this.#unlisten();
  }

  #paymentOf(session: Session, asks: boolean): Node[] {
    const say = this.#say,
      { address } = session;
    const state = element('p', { role: 'status', class: 'state' }, [say(STATES[session.status])]);
    const amount = session.status === 'underpaid' ? session.amountRemaining : (session.amount ?? '');
    if (!asks) {
      const again = element('button', { type: 'button' }, [say('renew')]);
      again.addEventListener('click', () => this.#begin());
      return session.status === 'expired' ? [state, again] : [state];
    }
    const link = walletLink(session);
    const said = element('p', { role: 'status', class: 'said' }, []);
    const copy = (label: string, text: string): Node => {
      const button = element('button', { type: 'button' }, [label]);
      button.addEventListener('click', () => {
        void navigator.clipboard.writeText(text).then(() => said.replaceChildren(say('copied')));
      });
      return button;
    };
    return [
      state,
      element('p', {}, [
        say('sendOnly', { asset: shown(session.asset), network: NETWORK_NAMES[session.chain] ?? session.chain }),
      ]),
      ...(amount === '' ? [] : [this.#amount(amount, session.asset)]),
      element('p', { class: 'address' }, [
        element(
          'bdi',
          { dir: 'ltr' },
          (address.match(/.{1,4}/gu) ?? []).map((group) => element('span', {}, [group])),
        ),
      ]),
      codeOf(link ?? address, `${amount} ${shown(session.asset)} ${address}`.trim()),
      element('p', { class: 'buttons' }, [
        copy(say('copyAddress'), address),
        ...(amount === '' ? [] : [copy(say('copyAmount'), amount)]),
        ...(link === null ? [] : [element('a', { href: link }, [say('openWallet')])]),
      ]),
      said,
      element('p', { class: 'small' }, [say('otherLost')]),
    ];
  }

  #amount(amount: string, asset: string): Node {
    return element('p', { class: 'amount' }, [element('bdi', { dir: 'ltr' }, [`${amount} ${shown(asset)}`])]);
  }

  #failed({ code }: { readonly code: string }): void {
    this.#render('error', [element('p', { role: 'alert' }, [this.#say('notNow')])]);
    this.#tell('flock-error', { code });
  }

  #render(state: string, parts: readonly Node[]): void {
    const test = this.#environment === 'sandbox' ? [element('p', { class: 'small' }, ['Sandbox'])] : [];
    const theme = this.getAttribute('theme') ?? '';
    this.#root.replaceChildren(
      element('div', { class: `pay ${theme}`, lang: this.#language, dir: directionOf(this.#language) }, [
        ...test,
        ...parts,
      ]),
    );
    this.dataset['state'] = state;
  }

  /** Once for each change; nothing of the payer is in it. payments E7. */
  #tell(name: string, detail: object): void {
    const said = JSON.stringify([name, detail]);
    if (said === this.#said) return;
    this.#said = said;
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  async #ask<T>(path: string, body?: object): Promise<Answer<T>> {
    try {
      const response = await fetch(`${this.#api}/v1/checkout/${path}`, {
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
        ...(body === undefined
          ? {}
          : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const { data, error } = (await response.json()) as { data: T | null; error: { code: string } | null };
      return data === null ? { data: null, code: error?.code ?? 'INTERNAL_ERROR' } : { data };
    } catch {
      return { data: null, code: 'UPSTREAM_UNAVAILABLE' }; // no connection, or an origin that is not registered
    }
  }
}

/** A view that the stream says; null for what is none. */
function sessionIn(text: string): Session | null {
  try {
    const said = JSON.parse(text) as Session | null;
    return typeof said === 'object' ? said : null;
  } catch {
    return null;
  }
}

/** With the mark of the key that the page pins. payments E9. */
const namedBy = async (body: object, key: string | undefined): Promise<object> =>
  key === undefined ? body : { ...body, identityFingerprint: await fingerprintOf(key) };

if (customElements.get('flock-pay') === undefined) customElements.define('flock-pay', FlockPay);
