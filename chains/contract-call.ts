/**
 * Calls of pinned contracts in the place of a transfer, and what they leave in a receipt; what a token's contract runs.
 * Treasury H6, H7, H10, K18.
 */

export interface ContractCall {
  readonly contract: string;
  /** 0x hex. */
  readonly data: string;
}

export interface MayCall {
  /**
   * A call of a pinned contract in the place of a transfer (evm): destination, amount and token say what it is about.
   * Never sent to an edge, which makes the call itself.
   */
  readonly call?: ContractCall;
}

/** A log of a transaction; texts in lower case. */
export interface ContractLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** What a token's contract runs, and whether it takes transfers now. K18. */
export interface TokenCode {
  /** Another text where it runs something else; compared, never read. */
  readonly text: string;
  /** It says that another contract took its place. */
  readonly isDeprecated: boolean;
  /** Why a transfer would fail, in its own words; null where one runs. */
  readonly declined: string | null;
}

export interface SeesCalls {
  /** Whether an address has code, as contracts and delegated accounts have. evm. Throws: ChainUnavailable. */
  hasCode?(address: string): Promise<boolean>;
  /** evm, tron. Throws: ChainUnavailable. */
  fetchTokenCode?(contract: string): Promise<TokenCode>;
  /** What a contract answers to a call that changes nothing; null where it reverts. evm. Throws: ChainUnavailable. */
  askContract?(call: ContractCall): Promise<string | null>;
  /**
   * Logs of a transaction that succeeded, in the block that is named; null where no endpoint has it there. evm. Throws:
   * ChainUnavailable.
   */
  fetchLogsOf?(txid: string, blockHash: string): Promise<readonly ContractLog[] | null>;
  /** Such logs from a height up to the head. evm. Throws: ChainUnavailable. */
  findLogs?(contract: string, topics: readonly (string | null)[], fromHeight: number): Promise<readonly FoundLog[]>;
}

export interface FoundLog extends ContractLog {
  readonly txid: string;
  readonly blockHash: string;
  readonly height: number;
}
