// The live part of a payment's page: asks what is shown now and puts it in place. It computes no amount, makes no
// markup and keeps nothing. Without it the page is whole, and asks again by itself every twenty seconds.
(() => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const pay = byId('pay');
  if (pay === null) return;
  const parts = pay.dataset.parts.split(' ');
  for (const one of document.querySelectorAll('[data-needs-script]'))
    one.hidden = one.dataset.part !== undefined && !parts.includes(one.dataset.part);

  const PAUSES_MS = [5000, 10000, 15000];
  // While it is told of changes it asks seldom: a proxy may have held the stream back without a word.
  const TOLD_PAUSE_MS = 60000;
  let amount = byId('amount')?.textContent ?? '';
  let live = pay.dataset.live === 'true';
  let endsAt = pay.dataset.endsIn === undefined ? null : performance.now() + Number(pay.dataset.endsIn);
  let pauses = 0;
  let timer = null;
  let reading = false;
  let said = null;
  let stream = null;
  let told = false;
  let proved = false;
  let missed = false;
  let call = pay.dataset.call === undefined ? null : JSON.parse(pay.dataset.call);

  const say = (text) => {
    byId('said').textContent = text;
  };
  const setText = (id, text) => {
    const node = byId(id);
    if (node !== null && node.textContent !== text) node.textContent = text;
  };
  const listOf = (id, rows) => {
    byId(id).replaceChildren(
      ...rows.map(({ text, href }) => {
        const row = document.createElement('li');
        const inner = href === null ? row : row.appendChild(document.createElement('a'));
        if (href !== null) {
          inner.href = href;
          inner.rel = 'noreferrer';
          if (document.documentElement.dataset.framedBy !== undefined) inner.target = '_blank';
        }
        inner.textContent = text;
        return row;
      }),
    );
  };

  const apply = (now) => {
    setText('state', now.state);
    for (const node of document.querySelectorAll('[data-text]')) node.textContent = now[node.dataset.text];
    for (const node of document.querySelectorAll('[data-part]')) node.hidden = !now.parts.includes(node.dataset.part);
    setText('amount', now.amount);
    amount = now.amount;
    byId('qr').setAttribute('d', now.qr.path);
    byId('qr').parentElement.setAttribute('viewBox', `0 0 ${now.qr.size} ${now.qr.size}`);
    const wallet = document.querySelector('a[data-part="wallet"]');
    if (now.uri !== null) wallet.href = now.uri;
    if (now.status !== pay.dataset.status) for (const one of byId('wallets').children) one.disabled = false;
    call = now.call;
    if (now.shop !== null) byId('shop').href = now.shop;
    listOf('transfers', now.transfers);
    listOf(
      'notices',
      now.notices.map((text) => ({ text, href: null })),
    );
    if (now.status !== pay.dataset.status) say('');
    pay.dataset.status = now.status;
    live = now.live;
    endsAt = now.endsInMs === null ? null : performance.now() + now.endsInMs;
    document.title = `${now.state} · ${document.title.split(' · ').slice(1).join(' · ')}`;
  };

  const later = () => {
    clearTimeout(timer);
    if (document.hidden) return;
    timer = setTimeout(read, told ? TOLD_PAUSE_MS : PAUSES_MS[Math.min(pauses, PAUSES_MS.length - 1)]);
    pauses += 1;
  };
  const read = async () => {
    if (pay.dataset.now === undefined) return;
    if (reading) {
      missed = true; // what is on its way may be from before
      return;
    }
    reading = true;
    missed = false;
    try {
      const answer = await fetch(pay.dataset.now, { headers: { accept: 'application/json' }, cache: 'no-store' });
      if (answer.ok) {
        const now = await answer.json();
        if (now.status !== pay.dataset.status) pauses = 0;
        apply(now);
        if (!live && stream !== null) leave();
      }
    } catch {
      // Offline: asked again, and at once when the browser is back.
    } finally {
      reading = false;
      if (missed) void read();
      else later();
    }
  };
  const follow = () => {
    if (pay.dataset.events === undefined || stream !== null || document.hidden) return;
    stream = new EventSource(pay.dataset.events);
    stream.onmessage = () => {
      proved = told = true;
      void read();
    };
    // Again: what passed the first message passes the next one.
    stream.onopen = () => {
      told = proved;
    };
    // One that never spoke puts no look off, however often it fails.
    stream.onerror = () => {
      if (!told) return;
      pauses = 0;
      told = false;
      later();
    };
  };
  const leave = () => {
    stream?.close();
    stream = null;
    told = false;
    clearTimeout(timer);
  };
  const atOnce = () => {
    if (document.hidden) return leave();
    pauses = 0;
    follow();
    void read();
  };
  document.addEventListener('visibilitychange', atOnce);
  addEventListener('pageshow', (event) => event.persisted && atOnce());
  addEventListener('online', atOnce);

  const countdown = () => {
    if (endsAt === null) return;
    const left = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
    const minutes = Math.floor(left / 60);
    setText('time', pay.dataset.timeLeft.replace('{time}', `${minutes}:${String(left % 60).padStart(2, '0')}`));
    const mark = [1, 5, 10].find((one) => left <= one * 60 && left > one * 60 - 5);
    if (mark !== undefined && said !== mark) {
      said = mark;
      say(pay.dataset.minutesLeft.replace('{minutes}', String(mark)));
    }
    if (left === 0) {
      endsAt = null;
      void read();
    }
  };
  setInterval(countdown, 1000);
  countdown();

  addEventListener('click', (event) => {
    const button = event.target.closest('button.copy');
    if (button === null) return;
    const text =
      'copyAmount' in button.dataset
        ? amount
        : 'copyLink' in button.dataset
          ? location.href.split('?')[0]
          : button.dataset.copy;
    navigator.clipboard.writeText(text).then(
      () => say(`${pay.dataset.copied}: ${text}`),
      () => say(text),
    );
  });

  // Wallets of the browser, by the names that they have (EIP-6963). Each asks its owner before it sends. What it
  // answers changes nothing here: the payment is seen on the chain, or it is not.
  const known = new Set();
  const payBy = async (provider) => {
    const { chainId, ...transaction } = call;
    const [from] = await provider.request({ method: 'eth_requestAccounts' });
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
    const at = await provider.request({ method: 'eth_chainId' });
    if (from === undefined || Number(at) !== Number(chainId)) throw new Error('another network');
    await provider.request({ method: 'eth_sendTransaction', params: [{ from, ...transaction }] });
  };
  addEventListener('eip6963:announceProvider', ({ detail }) => {
    const { info, provider } = detail ?? {};
    if (pay.dataset.payWith === undefined || typeof info?.name !== 'string' || provider === undefined) return;
    if (known.has(info.uuid) || known.size >= 8) return;
    known.add(info.uuid);
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = pay.dataset.payWith.replace('{wallet}', () => info.name.slice(0, 40));
    button.addEventListener('click', async () => {
      if (call === null) return;
      button.disabled = true;
      try {
        await payBy(provider);
        say(pay.dataset.sent);
        pauses = 0;
        void read();
      } catch {
        button.disabled = false;
        say(pay.dataset.notSent);
      }
    });
    byId('wallets').append(button);
  });
  dispatchEvent(new Event('eip6963:requestProvider'));

  if (live) later();
  follow();
})();
