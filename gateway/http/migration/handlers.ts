/** The handlers of a migration: from its assessment to its cutover, and the levers of the sandbox. */
import type { HandlerDeps } from '../surroundings.ts';
import { cutoverHandlers } from './cutover.ts';
import { detectCaseHandler } from './detect-case.ts';
import { exportHandlers } from './export.ts';
import { importHandlers } from './imports.ts';
import { leverHandlers } from './levers.ts';
import { projectHandlers } from './projects.ts';
import { reviewHandlers } from './reviews.ts';
import { scanHandlers } from './scans.ts';
import { uploadHandlers } from './uploads.ts';

export const migrationHandlers = (deps: HandlerDeps) => ({
  ...detectCaseHandler(deps),
  ...projectHandlers(deps),
  ...uploadHandlers(deps),
  ...scanHandlers(deps),
  ...importHandlers(deps),
  ...reviewHandlers(deps),
  ...cutoverHandlers(deps),
  ...exportHandlers(deps),
  ...leverHandlers(deps),
});
