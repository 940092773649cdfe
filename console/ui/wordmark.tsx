/** The name of the product with its bird, where there is no navigation. */
import type { JSX } from 'preact';

export const Wordmark = (): JSX.Element => (
  <p class="brand">
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M3 15c2.5-4 5-4 6.5-.7C11 11 13.5 11 16 15M10 8.5c1.6-2.4 3.2-2.4 4.4-.4 1.2-2 2.8-2 4.4.4" />
    </svg>
    Flock
  </p>
);
