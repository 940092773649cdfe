/** The one box: an address, an id, a customer, a label. A phrase or a key is not sent, nor kept in the address. Console C16. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Scope } from '../app/ask.ts';
import { go, hrefOf } from '../app/location.ts';
import { looksSecret } from './text.ts';

export function SearchBox({ scope }: { scope: Scope }): JSX.Element {
  const [isSecret, setSecret] = useState(false);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        const input = event.currentTarget.elements.namedItem('q') as HTMLInputElement;
        const text = input.value.trim();
        const found = looksSecret(text);
        setSecret(found);
        if (text === '') return input.focus();
        input.value = '';
        if (!found) go(hrefOf(scope, '/search', { q: text }));
      }}
    >
      <label>
        <span class="visually-hidden">Search addresses, transactions, ids and customers</span>
        <input name="q" type="search" placeholder="Search" autocomplete="off" spellcheck={false} maxLength={200} />
      </label>
      <p class={isSecret ? 'wrong' : 'visually-hidden'} role="status">
        {isSecret && 'That looks like a recovery phrase or a private key. It was not sent, and is cleared.'}
      </p>
    </form>
  );
}
