/** What is configured of the retries that one host may make. */
import type { RetryBudgetTerms } from '../policy/retry-budget.js';
import type { Config } from './schema.js';

export function hostBudgetOf({ budgetShare, budgetPerHostAndMinute }: Config['retry']): RetryBudgetTerms {
  return { share: budgetShare, perMinute: budgetPerHostAndMinute };
}
