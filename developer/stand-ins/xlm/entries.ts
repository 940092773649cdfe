/** What the stand-in's ledger holds, and the XDR of it. */
import { Asset, StrKey } from '@stellar/stellar-sdk/base';
import {
  AccountEntry,
  AccountEntryExt,
  AccountEntryExtensionV1,
  AccountEntryExtensionV1Ext,
  AccountEntryExtensionV2,
  AccountEntryExtensionV2Ext,
  ClaimableBalanceEntry,
  ClaimableBalanceEntryExt,
  ClaimableBalanceId,
  Claimant,
  ClaimantV0,
  ClaimPredicate,
  DataEntry,
  DataEntryExt,
  LedgerEntry,
  LedgerEntryData,
  LedgerEntryExt,
  LedgerKey,
  LedgerKeyAccount,
  LedgerKeyClaimableBalance,
  LedgerKeyData,
  LedgerKeyTrustLine,
  Liabilities,
  PublicKey,
  TrustLineAsset,
  TrustLineEntry,
  TrustLineEntryExt,
  type Asset as XdrAsset,
  type MuxedAccount,
} from '@stellar/stellar-sdk/xdr';

export interface AccountRow {
  readonly kind: 'account';
  readonly id: string;
  readonly balance: bigint;
  readonly sequence: bigint;
  readonly subentries: number;
  readonly sponsoring: number;
  readonly sponsored: number;
  readonly flags: number;
}
export interface LineRow {
  readonly kind: 'line';
  readonly account: string;
  readonly asset: string;
  readonly balance: bigint;
  readonly limit: bigint;
  readonly flags: number;
}
export interface ClaimableRow {
  readonly kind: 'claimable';
  readonly id: string;
  readonly asset: string | null;
  readonly amount: bigint;
  readonly claimants: readonly string[];
  readonly sponsor: string;
}
export interface DataRow {
  readonly kind: 'data';
  readonly account: string;
  readonly name: string;
  readonly value: Uint8Array;
}

export type Row = AccountRow | LineRow | ClaimableRow | DataRow;

export const FLAGS = { authRequired: 1, authRevocable: 2, authImmutable: 4, clawback: 8 } as const;
export const LINE_FLAGS = { authorized: 1, maintain: 2, clawback: 4 } as const;

/** Place of a row in the ledger. */
export function placeOf(row: Row): string {
  switch (row.kind) {
    case 'account':
      return accountPlace(row.id);
    case 'line':
      return linePlace(row.account, row.asset);
    case 'claimable':
      return `claimable ${row.id}`;
    case 'data':
      return dataPlace(row.account, row.name);
  }
}
export const accountPlace = (id: string): string => `account ${id}`;
export const linePlace = (account: string, asset: string): string => `line ${account} ${asset}`;
export const dataPlace = (account: string, name: string): string => `data ${account} ${name}`;

export const keyOf = (address: string): PublicKey =>
  PublicKey.publicKeyTypeEd25519(StrKey.decodeEd25519PublicKey(address));
export const addressOf = (key: PublicKey): string => StrKey.encodeEd25519PublicKey(key.ed25519.toBytes());

/** `G…` of an account, whatever id it carries. */
export function baseOf(account: MuxedAccount): string {
  return StrKey.encodeEd25519PublicKey(
    (account.type === 'keyTypeEd25519' ? account.ed25519 : account.med25519.ed25519).toBytes(),
  );
}

/** Id of a muxed account, or null. */
export function muxedIdOf(account: MuxedAccount): bigint | null {
  return account.type === 'keyTypeEd25519' ? null : account.med25519.id;
}

/** `CODE:ISSUER`, null for the native coin. */
export function textOf(asset: XdrAsset): string | null {
  const one = Asset.fromOperation(asset);
  return one.isNative() ? null : `${one.getCode()}:${one.getIssuer()}`;
}

export function assetOf(text: string | null): Asset {
  if (text === null) return Asset.native();
  const [code, issuer] = text.split(':') as [string, string];
  return new Asset(code, issuer);
}

export const issuerOf = (asset: string): string => asset.split(':')[1]!;

function lineAsset(asset: string): TrustLineAsset {
  const found = assetOf(asset).toXdrObject();
  if (found.type === 'assetTypeNative') throw new TypeError('no line for the native coin');
  return found.type === 'assetTypeCreditAlphanum4'
    ? TrustLineAsset.assetTypeCreditAlphanum4(found.alphaNum4)
    : TrustLineAsset.assetTypeCreditAlphanum12(found.alphaNum12);
}

const balanceId = (id: string): ClaimableBalanceId =>
  ClaimableBalanceId.claimableBalanceIdTypeV0(Buffer.from(id, 'hex'));

/** The key of a row. */
export function ledgerKey(row: Row): LedgerKey {
  switch (row.kind) {
    case 'account':
      return LedgerKey.account(new LedgerKeyAccount({ accountId: keyOf(row.id) }));
    case 'line':
      return LedgerKey.trustline(
        new LedgerKeyTrustLine({ accountId: keyOf(row.account), asset: lineAsset(row.asset) }),
      );
    case 'claimable':
      return LedgerKey.claimableBalance(new LedgerKeyClaimableBalance({ balanceId: balanceId(row.id) }));
    case 'data':
      return LedgerKey.data(new LedgerKeyData({ accountId: keyOf(row.account), dataName: row.name }));
  }
}

/** The entry of a row, last modified at `height`. */
export function ledgerEntry(row: Row, height: number): LedgerEntry {
  return new LedgerEntry({ lastModifiedLedgerSeq: height, data: entryData(row), ext: LedgerEntryExt.v0() });
}

export function entryData(row: Row): LedgerEntryData {
  switch (row.kind) {
    case 'account':
      return LedgerEntryData.account(accountEntry(row));
    case 'line':
      return LedgerEntryData.trustline(
        new TrustLineEntry({
          accountId: keyOf(row.account),
          asset: lineAsset(row.asset),
          balance: row.balance,
          limit: row.limit,
          flags: row.flags,
          ext: TrustLineEntryExt.v0(),
        }),
      );
    case 'claimable':
      return LedgerEntryData.claimableBalance(
        new ClaimableBalanceEntry({
          balanceId: balanceId(row.id),
          asset: assetOf(row.asset).toXdrObject(),
          amount: row.amount,
          claimants: row.claimants.map((destination) =>
            Claimant.claimantTypeV0(
              new ClaimantV0({
                destination: keyOf(destination),
                predicate: ClaimPredicate.claimPredicateUnconditional(),
              }),
            ),
          ),
          ext: ClaimableBalanceEntryExt.v0(),
        }),
      );
    case 'data':
      return LedgerEntryData.data(
        new DataEntry({
          accountId: keyOf(row.account),
          dataName: row.name,
          dataValue: row.value,
          ext: DataEntryExt.v0(),
        }),
      );
  }
}

function accountEntry({ id, balance, sequence, subentries, sponsoring, sponsored, flags }: AccountRow): AccountEntry {
  const v2 = new AccountEntryExtensionV2({
    numSponsored: sponsored,
    numSponsoring: sponsoring,
    signerSponsoringIDs: [],
    ext: AccountEntryExtensionV2Ext.v0(),
  });
  const v1 = new AccountEntryExtensionV1({
    liabilities: new Liabilities({ buying: 0n, selling: 0n }),
    ext: AccountEntryExtensionV1Ext.v2(v2),
  });
  return new AccountEntry({
    accountId: keyOf(id),
    balance,
    seqNum: sequence,
    numSubEntries: subentries,
    inflationDest: null,
    flags,
    homeDomain: '',
    thresholds: Uint8Array.of(1, 0, 0, 0),
    signers: [],
    ext: sponsoring === 0 && sponsored === 0 ? AccountEntryExt.v0() : AccountEntryExt.v1(v1),
  });
}
