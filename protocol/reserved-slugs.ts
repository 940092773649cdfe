/** Names that no payment link may have: paths of ours, and words that would mislead a payer. payments P6. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  `admin api assets auth billing checkout console docs embed favicon flock health help invoice invoices login logout
   metrics null pay payments robots security settings signin signup static status support terms test undefined v1
   well-known www`.split(/\s+/),
);

/** Lower case, digits and single hyphens inside, 3 to 64 characters. Upper case is refused, not folded. */
export const SLUG_FORM = /^[a-z0-9](?:[a-z0-9]|-(?!-)){1,62}[a-z0-9]$/;
