import test from 'ava';
import { createEdgeLog, scrub, type Facts } from '../../../edge/process/log.ts';

function captured(): { log: ReturnType<typeof createEdgeLog>; text: () => string } {
  const lines: string[] = [];
  return {
    log: createEdgeLog('debug', { write: (line: string) => void lines.push(line) }),
    text: () => lines.join(''),
  };
}

test('§5.10, reliability 0.8: nothing but known facts leaves: no nested object, no error message, no unknown name', (t) => {
  const { log, text } = captured();
  log.info('event', {
    code: 'X',
    secret: 'CANARY',
    body: { deep: ['CANARY'] },
    reason: { nested: 'CANARY' },
    step: ['CANARY'],
  } as unknown as Facts);
  log.fault(
    'broken',
    Object.assign(new Error('CANARY in the message'), {
      code: 'E_KNOWN',
      detail: 'CANARY',
      cause: new Error('CANARY cause'),
    }),
  );
  log.fault('odd', 'CANARY thrown');
  log.fault('odd', { toString: () => 'CANARY' });
  t.notRegex(text(), /CANARY/);
  t.regex(text(), /"code":"X"/);
  t.regex(text(), /"errorName":"Error","at":\["at .*log\.test/);
  t.regex(text(), /"errorCode":"E_KNOWN"/);
});

test('what a known fact should never have held is cut out of it', (t) => {
  for (const secret of [
    'loc_live_abcdefghijklmnop',
    'flk_test_abcdefghijklmnop',
    'whsec_c2VjcmV0c2VjcmV0',
    'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj',
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
    'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about',
  ]) {
    const cut = scrub(`before ${secret} after`);
    t.false(cut.includes(secret.slice(9)), secret.slice(0, 12));
    t.regex(cut, /\[redacted\]/);
  }
  t.is(scrub('the quick brown fox'), 'the quick brown fox');
  t.is(scrub('x'.repeat(10_000)).length, 200);
});

test('alarms are counted', (t) => {
  const { log, text } = captured();
  log.alarm('one');
  log.alarm('two', { code: 'X' });
  t.is(log.alarms, 2);
  t.is(text().match(/"alarm":true/g)?.length, 2);
});
