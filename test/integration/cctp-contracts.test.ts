/**
 * What this service encodes for CCTP v2, on two chains: approved, burnt, attested, minted. The contracts are stand-ins
 * with the calls, messages and refusals of Circle's (test/support/cctp). Treasury H6, H7, H10.
 */
import test from 'ava';
import {
  encodeApprove,
  encodeBurn,
  encodeMint,
  encodeMinFee,
  encodeUsedNonce,
  MESSAGE_SENT,
  messageIn,
  messageOf,
  MESSAGE_TRANSMITTER,
  nonceOf,
  TOKEN_MESSENGER,
  type Burn,
} from '../../chains/evm/cctp.ts';
import { startAnvil } from '../../developer/anvil.ts';
import { attestedOf } from '../support/cctp/attester.ts';
import { openLedger } from '../support/cctp/contracts.ts';

const SENDER = '0x00000000000000000000000000000000000000A1',
  RECIPIENT = '0x00000000000000000000000000000000000000b2',
  ANYBODY = '0x00000000000000000000000000000000000000C3';

test('treasury H6, H7, H10: our calls burn on one chain and mint on the other, once, for anybody who asks', async (t) => {
  const nodes = await Promise.all([1, 8_453].map((chainId) => startAnvil({ chainId })));
  t.teardown(() => Promise.all(nodes.map((node) => node.stop())));
  const [from, to] = [await openLedger('eth', nodes[0]!), await openLedger('base', nodes[1]!)];
  const burn: Burn = {
    from: 'eth',
    to: 'base',
    token: from.token,
    sender: SENDER,
    recipient: RECIPIENT,
    amount: 1_000_000_000n,
    maxFee: 5n,
  };
  await from.mint(SENDER, 1_500_000_000n);
  t.is(
    BigInt(
      await from.node.rpc<string>('eth_call', [{ to: TOKEN_MESSENGER, data: encodeMinFee(burn.amount) }, 'latest']),
    ),
    0n,
  );
  await t.throwsAsync(from.send(SENDER, TOKEN_MESSENGER, encodeBurn(burn)), undefined, 'nothing is approved');
  await from.send(SENDER, from.token, encodeApprove(burn.amount));
  const txid = await from.send(SENDER, TOKEN_MESSENGER, encodeBurn(burn));
  t.is(await from.balanceOf(SENDER), 500_000_000n);
  const { logs } = await from.node.rpc<{ logs: { topics: string[]; data: string }[] }>('eth_getTransactionReceipt', [
    txid,
  ]);
  const sent = messageIn(logs.find(({ topics }) => topics[0] === MESSAGE_SENT)!.data);
  t.is(sent, messageOf(burn), 'the message is known before it is signed');
  const { message, attestation } = attestedOf(sent!, { fee: 2n });
  const used = async () =>
    BigInt(
      await to.node.rpc<string>('eth_call', [
        { to: MESSAGE_TRANSMITTER, data: encodeUsedNonce(nonceOf(message)) },
        'latest',
      ]),
    );
  t.is(await used(), 0n);
  await to.send(ANYBODY, MESSAGE_TRANSMITTER, encodeMint(message, attestation));
  t.is(await to.balanceOf(RECIPIENT), burn.amount - 2n);
  t.is(await used(), 1n);
  await t.throwsAsync(to.send(ANYBODY, MESSAGE_TRANSMITTER, encodeMint(message, attestation)), undefined, 'once');
  const other = attestedOf(sent!, { nonce: 78n });
  await t.throwsAsync(
    to.send(ANYBODY, MESSAGE_TRANSMITTER, encodeMint(other.message, attestation)),
    undefined,
    'signed',
  );
});
