/** What every page is given. */
import type { ComponentType } from 'preact';
import type { Environment } from '../../protocol/slugs.ts';

export interface PageProps {
  readonly scope: { readonly organizationId: string; readonly environment: Environment };
  readonly params: Readonly<Record<string, string>>;
}
export type PageComponent = ComponentType<PageProps>;
