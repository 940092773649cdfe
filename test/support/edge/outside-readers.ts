/**
 * What unsigned bytes would move, read by the chain's own SDK: all of it but what only keeps them from landing twice or
 * late, and the fee, which a signer bounds by itself. Nothing of `chains/` is read by: a fault of a decoder of ours is
 * not confirmed by itself. Each throws an error for bytes that are no transaction, or not in the SDK's own spelling.
 */
import { TransactionBuilder, Networks, type FeeBumpTransaction } from '@stellar/stellar-sdk';
import { ComputeBudgetProgram, Message } from '@solana/web3.js';
import { address as bitcoinAddress, networks, Psbt } from 'bitcoinjs-lib';
import { Transaction } from 'ethers/transaction';
import { decode, encode } from 'ripple-binary-codec';
import { utils } from 'tronweb';
import type { FamilyChain } from './families.ts';

type Reader = (payload: string, from: string) => unknown;

/** Outputs but for those that come back to the sender. */
const btc: Reader = (payload, from) => {
  const psbt = Psbt.fromBase64(payload),
    change = Buffer.from(bitcoinAddress.toOutputScript(from, networks.bitcoin)).toString('hex');
  const outputs = psbt.txOutputs.map(({ script, value }) => [Buffer.from(script).toString('hex'), String(value)]);
  return outputs.filter(([script]) => script !== change);
};

const eth: Reader = (payload) => {
  const { to, value, data, chainId, accessList, authorizationList, type } = Transaction.from(payload);
  return { to, value, data, chainId, accessList, authorizationList, type };
};

interface Contract {
  getType(): number;
  getParameter(): { getTypeUrl(): string; getValue_asU8(): Uint8Array };
  getProvider_asU8(): Uint8Array;
  getContractname_asU8(): Uint8Array;
  getPermissionId(): number;
}
interface Raw {
  getContractList(): readonly Contract[];
  getData_asU8(): Uint8Array;
  getScripts_asU8(): Uint8Array;
  getAuthsList(): readonly unknown[];
  serializeBinary(): Uint8Array;
}
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Every contract with its own fields as the SDK names them: amounts are doubles there, so its bytes are told too. */
const tron: Reader = (payload) => {
  const { raw } = (
    globalThis as unknown as { TronWebProto: { Transaction: { raw: { deserializeBinary(bytes: Uint8Array): Raw } } } }
  ).TronWebProto.Transaction;
  const read = raw.deserializeBinary(Buffer.from(payload, 'hex'));
  if (hex(read.serializeBinary()) !== payload) throw new Error('not as the SDK writes it');
  const contracts = read.getContractList().map((one) => ({
    type: one.getType(),
    url: one.getParameter().getTypeUrl(),
    bytes: hex(one.getParameter().getValue_asU8()),
    provider: hex(one.getProvider_asU8()),
    name: hex(one.getContractname_asU8()),
    permission: one.getPermissionId(),
  }));
  const [first] = contracts;
  const type = first === undefined ? '' : first.url.slice(first.url.lastIndexOf('.') + 1);
  const { contract } = utils.deserializeTx.deserializeTransaction(type, payload) as { contract: unknown };
  return {
    contracts,
    contract,
    data: hex(read.getData_asU8()),
    scripts: hex(read.getScripts_asU8()),
    auths: read.getAuthsList().length,
  };
};

/** Every instruction but those that price the transaction. */
const sol: Reader = (payload) => {
  const bytes = Buffer.from(payload, 'base64'),
    message = Message.from(bytes);
  if (!message.serialize().equals(bytes)) throw new Error('not as the SDK writes it');
  const key = (index: number) => ({
    key: message.accountKeys[index]!.toBase58(),
    signs: message.isAccountSigner(index),
    writes: message.isAccountWritable(index),
  });
  return {
    payer: message.accountKeys[0]!.toBase58(),
    signers: message.header.numRequiredSignatures,
    instructions: message.instructions
      .map(({ programIdIndex, accounts, data }) => ({
        program: message.accountKeys[programIdIndex]!.toBase58(),
        accounts: accounts.map(key),
        data,
      }))
      .filter(({ program }) => program !== ComputeBudgetProgram.programId.toBase58()),
  };
};

/** Every field but the fee and what orders it. */
const xrp: Reader = (payload) => {
  const { tx_blob: blob } = JSON.parse(payload) as { tx_blob: string };
  const { Fee: _fee, Sequence: _sequence, LastLedgerSequence: _last, ...rest } = decode(blob);
  if (encode(decode(blob)) !== blob) throw new Error('not as the SDK writes it');
  return Object.fromEntries(Object.entries(rest).toSorted());
};

const xlm: Reader = (payload) => {
  const read = TransactionBuilder.fromXDR(payload, Networks.PUBLIC);
  if (read.toXDR() !== payload) throw new Error('not as the SDK writes it');
  const bump = 'innerTransaction' in read ? (read as FeeBumpTransaction) : null,
    inner = 'innerTransaction' in read ? read.innerTransaction : read;
  const { source, operations, memo } = inner;
  return {
    payer: bump?.feeSource ?? null,
    source,
    operations,
    memo: [memo.type, String(memo.value)],
    signatures: inner.signatures.length,
  };
};

const READERS: Readonly<Record<FamilyChain, Reader>> = { btc, eth, tron, sol, xrp, xlm };

/** As text, so that two are compared. Throws: Error for what is no transaction. */
export function readOutside(chain: FamilyChain, payload: string, from: string): string {
  return JSON.stringify(READERS[chain](payload, from), (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
}
