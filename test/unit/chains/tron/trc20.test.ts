import test from 'ava';
import fc from 'fast-check';
import { Interface } from 'ethers/abi';
import { addressOf, bytesOf } from '../../../../chains/tron/address.ts';
import {
  addressWord,
  decodeRevert,
  decodeText,
  decodeTransfer,
  decodeWord,
  encodeTransfer,
  wordOf,
} from '../../../../chains/tron/trc20.ts';

const abi = new Interface([
  'function transfer(address to, uint256 amount)',
  'function name() view returns (string)',
  'error Error(string)',
  'error Panic(uint256)',
]);
const TO = addressOf(new Uint8Array(20).fill(0x5a));
const evmText = (address: string) => `0x${Buffer.from(bytesOf(address)).toString('hex')}`;

test('T16 property: call data of a transfer is what ethers makes of it, and is read back', (t) => {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(addressOf),
    amount = fc.bigInt(0n, 2n ** 256n - 1n);
  t.notThrows(() =>
    fc.assert(
      fc.property(address, amount, (to, value) => {
        const data = encodeTransfer(to, value);
        t.is(`0x${data}`, abi.encodeFunctionData('transfer', [evmText(to), value]));
        t.deepEqual(decodeTransfer(data), { to, amount: value });
      }),
    ),
  );
  for (const wrong of [-1n, 2n ** 256n]) t.throws(() => wordOf(wrong), { instanceOf: RangeError });
});

test('T16 exactly a9059cbb and two words: nothing shorter, longer, of another selector, or with a 41 before the account', (t) => {
  const data = encodeTransfer(TO, 5n);
  const dirty = data.replace(addressWord(TO), `${'0'.repeat(22)}41${addressWord(TO).slice(24)}`);
  for (const wrong of ['', data.slice(0, -2), `${data}00`, `095ea7b3${data.slice(8)}`, dirty, data.toUpperCase()])
    t.is(decodeTransfer(wrong), null, wrong);
});

test('G8 an answer that is not one word is no number', (t) => {
  t.is(decodeWord(wordOf(7n)), 7n);
  for (const wrong of ['', '00', `${wordOf(7n)}00`, 'z'.repeat(64)]) t.is(decodeWord(wrong), null, wrong);
});

test('V16 texts of contracts: string, the bytes32 of old ones, and nothing for what is neither or too long', (t) => {
  const text = (value: string) => abi.encodeFunctionResult('name', [value]).slice(2);
  t.is(decodeText(text('Tether USD')), 'Tether USD');
  t.is(decodeText(text('')), '');
  t.is(decodeText(text('ŧron')), 'ŧron');
  t.is(decodeText(Buffer.from('USDT').toString('hex').padEnd(64, '0')), 'USDT');
  t.is(decodeText(Buffer.from('U'.repeat(32)).toString('hex')), 'U'.repeat(32));
  t.is(decodeText(text('x'.repeat(301))), '');
  for (const junk of [
    '',
    'zz',
    '00',
    `${wordOf(32n)}${wordOf(2n ** 200n)}${wordOf(0n)}`,
    `${wordOf(64n)}${wordOf(2n)}${wordOf(0n)}`,
  ])
    t.is(decodeText(junk), '', junk);
});

test('T24 the reason of a revert, where the contract gives one', (t) => {
  t.is(decodeRevert(abi.encodeErrorResult('Error', ['Pausable: paused']).slice(2)), 'Pausable: paused');
  for (const nothing of ['', wordOf(0n), abi.encodeErrorResult('Panic', [1]).slice(2)])
    t.is(decodeRevert(nothing), null);
});
