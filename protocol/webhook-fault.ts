/** What the test of an endpoint says, in the same words wherever it is shown. Ecosystem X21, X36. */

/** An attempt of a test, as a service of any later version may answer it. */
interface Attempt {
  readonly signature: string;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly passed: boolean;
}

/** What an endpoint does wrong, in a sentence; null where it does nothing wrong. */
export function faultOf({ attempts }: { readonly attempts: readonly Attempt[] }): string | null {
  const [good, broken] = ['good', 'broken'].map((one) => attempts.find(({ signature }) => signature === one));
  if (good?.passed !== true)
    return good?.statusCode === null || good === undefined
      ? `nothing answers (${good?.error ?? 'no answer'}): look at the receiver, and at the rules of the edge`
      : `a good signature is answered ${good.statusCode}: look whether the receiver has the secret of this endpoint, and the raw body`;
  if (broken?.passed === true) return null;
  return broken?.statusCode != null && broken.statusCode < 300
    ? `a broken signature is taken (${broken.statusCode}): the receiver verifies nothing, and anybody can report deposits to it`
    : `a broken signature is answered ${broken?.statusCode ?? broken?.error ?? 'nothing'}: answer 401 before anything else`;
}
