// What a framed page says to the page that frames it, and to no other: how high it is, and what its payment has become.
// It listens to nothing. payments E10.
(() => {
  'use strict';
  const origin = document.documentElement.dataset.framedBy;
  if (origin === undefined || parent === window) return;
  const post = (type, more) => parent.postMessage({ source: 'flock-pay', v: 1, type, ...more }, origin);
  new ResizeObserver(() => post('height', { height: Math.ceil(document.body.getBoundingClientRect().height) })).observe(
    document.body,
  );
  const pay = document.getElementById('pay');
  if (pay === null) return;
  const paymentId = /pay_[a-z2-7]+/.exec(location.pathname)?.[0] ?? null;
  const state = () => post('state', { paymentId, status: pay.dataset.status });
  new MutationObserver(state).observe(pay, { attributes: true, attributeFilter: ['data-status'] });
  state();
})();
