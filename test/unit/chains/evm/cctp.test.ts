import test from 'ava';
import fc from 'fast-check';
import { AbiCoder, getAddress, id, Interface } from 'ethers';
import {
  amountIn,
  ATTESTED_FIELDS,
  encodeApprove,
  encodeBurn,
  encodeMinFee,
  encodeMint,
  feeIn,
  flawOf,
  maxFeeIn,
  MESSAGE_BYTES,
  MESSAGE_RECEIVED,
  MESSAGE_SENT,
  MESSAGE_TRANSMITTER,
  messageIn,
  messageOf,
  nonceOf,
  TOKEN_MESSENGER,
  type Burn,
} from '../../../../chains/evm/cctp.ts';
import { attestedOf } from '../../../support/cctp/attester.ts';

/** As Circle publishes them, written by hand. */
const CONTRACTS = new Interface([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function depositForBurn(uint256 amount, uint32 destinationDomain, bytes32 mintRecipient, address burnToken, bytes32 destinationCaller, uint256 maxFee, uint32 minFinalityThreshold)',
  'function receiveMessage(bytes message, bytes attestation) returns (bool)',
  'function getMinFeeAmount(uint256 amount) view returns (uint256)',
]);
const BURN: Burn = {
  from: 'eth',
  to: 'base',
  token: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
  sender: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  recipient: '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0',
  amount: 1_000_000_000n,
  maxFee: 5n,
};
const ATTESTED = attestedOf(messageOf(BURN));
const ZERO = `0x${'0'.repeat(64)}`;
const wordOf = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;

test('treasury H6, H10: the calls of a bridge are those of the contracts, to the byte', (t) => {
  t.is(TOKEN_MESSENGER, getAddress('0x28b5a0e9c621a5badaa536219b3a228c8168cf5d'));
  t.is(MESSAGE_TRANSMITTER, getAddress('0x81d40f21f12a8f0e3252bccb954d722d4c464b64'));
  t.is(encodeApprove(BURN.amount), CONTRACTS.encodeFunctionData('approve', [TOKEN_MESSENGER, BURN.amount]));
  t.is(
    encodeBurn(BURN),
    CONTRACTS.encodeFunctionData('depositForBurn', [
      BURN.amount,
      6,
      wordOf(BURN.recipient),
      BURN.token,
      ZERO,
      BURN.maxFee,
      2_000,
    ]),
  );
  for (const [message, attestation] of [
    [ATTESTED.message, ATTESTED.attestation],
    ['0x', '0x01'],
    [`0x${'ab'.repeat(64)}`, `0x${'cd'.repeat(33)}`],
  ] as const)
    t.is(encodeMint(message, attestation), CONTRACTS.encodeFunctionData('receiveMessage', [message, attestation]));
  t.is(encodeMinFee(7n), CONTRACTS.encodeFunctionData('getMinFeeAmount', [7n]));
  t.is(MESSAGE_SENT, id('MessageSent(bytes)'));
  t.is(MESSAGE_RECEIVED, id('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)'));
});

test('treasury H7: a message is read from its event, and other data is none', (t) => {
  const message = messageOf(BURN),
    data = AbiCoder.defaultAbiCoder().encode(['bytes'], [message]);
  t.is(messageIn(data), message);
  t.is(messageIn('0x'), null);
  t.is(messageIn(data.slice(0, 400)), null);
  t.is(messageIn(data.replace('20', '40')), null);
});

test('treasury H7: the attested message of a burn is taken, with what the attester filled in', (t) => {
  t.is(flawOf(messageOf(BURN), ATTESTED), null);
  t.is((messageOf(BURN).length - 2) / 2, MESSAGE_BYTES);
  t.is(amountIn(ATTESTED.message), BURN.amount);
  t.is(maxFeeIn(ATTESTED.message), BURN.maxFee);
  t.is(feeIn(ATTESTED.message), 0n);
  t.not(nonceOf(ATTESTED.message), ZERO);
  t.is(flawOf(messageOf(BURN), attestedOf(messageOf(BURN), { fee: 5n })), null);
});

test('treasury H7: what an attester may not say is named', (t) => {
  const burnt = messageOf(BURN);
  t.is(flawOf(burnt, attestedOf(burnt, { fee: 6n })), 'fee');
  t.is(flawOf(burnt, attestedOf(burnt, { finality: 1_000 })), 'finality');
  t.is(flawOf(burnt, attestedOf(burnt, { nonce: 0n })), 'no_nonce');
  t.is(flawOf(burnt, { ...ATTESTED, message: `${ATTESTED.message}00` }), 'length');
  t.is(flawOf(burnt, { ...ATTESTED, message: ATTESTED.message.toUpperCase() }), 'not_hex');
  for (const bytes of [0, 64, 66, 65 * 17])
    t.is(flawOf(burnt, { ...ATTESTED, attestation: `0x${'ab'.repeat(bytes)}` }), 'attestation');
});

const isAttesters = (offset: number) => ATTESTED_FIELDS.some(({ at, bytes }) => offset >= at && offset < at + bytes);

test('treasury H7: a byte altered at any offset is no message of the burn, but where the attester writes', (t) => {
  const burnt = messageOf(BURN);
  for (let offset = 0; offset < MESSAGE_BYTES; offset += 1) {
    const place = 2 + 2 * offset,
      byte = Number.parseInt(ATTESTED.message.slice(place, place + 2), 16);
    for (const change of [1, 0x80, 0xff]) {
      const altered = (byte ^ change).toString(16).padStart(2, '0');
      const message = `${ATTESTED.message.slice(0, place)}${altered}${ATTESTED.message.slice(place + 2)}`;
      const flaw = flawOf(burnt, { ...ATTESTED, message });
      if (isAttesters(offset)) t.not(flaw, 'differs', `${offset}`);
      else t.is(flaw, 'differs', `${offset}`);
    }
  }
});

test('treasury H7: no message of another burn passes for this one', (t) => {
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => {
    return getAddress(`0x${Buffer.from(bytes).toString('hex')}`);
  });
  const chain = fc.constantFrom('eth' as const, 'avax' as const, 'base' as const, 'polygon' as const);
  const burns = fc.record({
    from: chain,
    to: chain,
    token: fc.oneof(fc.constant(BURN.token), address),
    sender: fc.oneof(fc.constant(BURN.sender), address),
    recipient: fc.oneof(fc.constant(BURN.recipient), address),
    amount: fc.oneof(fc.constant(BURN.amount), fc.bigInt({ min: 1n, max: 10n ** 13n })),
    maxFee: fc.bigInt({ min: 0n, max: 9n }),
  });
  fc.assert(
    fc.property(burns, (other) => {
      const isSame = messageOf(other) === messageOf(BURN);
      t.is(flawOf(messageOf(BURN), attestedOf(messageOf(other))) === null, isSame);
    }),
  );
});
