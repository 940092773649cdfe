/**
 * The tokens of a process: those of the registry that is in force there, until a later version takes its place. What is
 * under way keeps the catalogue that it began with. Treasury K11.
 */
import { isRefusal, type Refusal } from '../protocol/errors.ts';
import type { Chain } from '../protocol/slugs.ts';
import {
  catalogueOf,
  checkSuccession,
  findDeployment,
  parseRegistry,
  shippedRegistry,
  type Deployment,
  type Registry,
} from './catalogue.ts';
import type { Catalogue } from './chain.ts';

/** The registry in force, as those see it who use its tokens. */
export interface Tokens {
  readonly current: Registry;
  /** Monitored tokens of a chain. */
  catalogueOf(chain: Chain): Catalogue;
  /** A deployment by contract. Refuses: TOKEN_NOT_ON_CHAIN (another chain's contract), TOKEN_NOT_SUPPORTED. */
  find(chain: Chain, contract: string): Deployment | Refusal;
}

export class TokensInForce implements Tokens {
  #current: Registry;
  #catalogues = new Map<Chain, Catalogue>();

  constructor(current: Registry = shippedRegistry) {
    this.#current = current;
  }

  get current(): Registry {
    return this.#current;
  }

  readonly catalogueOf = (chain: Chain): Catalogue => {
    const known = this.#catalogues.get(chain) ?? catalogueOf(chain, this.#current);
    this.#catalogues.set(chain, known);
    return known;
  };

  readonly find = (chain: Chain, contract: string): Deployment | Refusal =>
    findDeployment(chain, contract, this.#current);

  /**
   * Puts a later version in force. Null where it is, or one at least as late was. Refuses: INVALID_INPUT (no registry),
   * SIGNED_BATCH_REJECTED (no lawful successor); the one in force stays.
   */
  take(content: unknown): Refusal | null {
    const parsed = parseRegistry(content);
    if (isRefusal(parsed)) return parsed;
    if (parsed.version <= this.#current.version) return null;
    const unlawful = checkSuccession(this.#current, parsed);
    if (unlawful !== null) return unlawful;
    this.#current = parsed;
    this.#catalogues = new Map();
    return null;
  }
}
