/** Calls of pinned contracts in the place of a transfer, and what they leave in a receipt. Treasury H6, H7, H10. */

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
