/** The token registry of a node as it follows what was published. Treasury K11. */
import type { PublishedRegistry } from './registry-store.ts';

export interface RegistryFollower {
  /** Looks once. Rejects: what keeps the store from answering. */
  look(): Promise<void>;
  /** What edges get: the version in force with its signatures; null while it is the one that ships. */
  inForce(): PublishedRegistry | null;
  /** Calls it with each version that comes into force from now on. */
  listen(listener: (published: PublishedRegistry) => void): void;
}
