/**
 * The one version of this software: the package's. The API description has its own, which the specification gives
 * (§9.2).
 */
import manifest from '../package.json' with { type: 'json' };

/** Of cloud, edge and package: they are built and released together. */
export const VERSION: string = manifest.version;
