/** The programs that the tests of repositories require. */
import { findProgram } from '#infra/testing/find-program.ts';
import type { OptionalService } from '../../../scripts/testing/optional-service.ts';

export const gitProgram: OptionalService = {
  service: 'Git',
  found: findProgram('git', []),
  reason: 'it is not installed (git)',
};

/** `sshd` for a repository, which also needs Git. */
export const sshProgram: OptionalService = {
  service: 'sshd',
  found: gitProgram.found && findProgram('sshd', ['/usr/sbin']),
  reason: 'it is not installed (git, openssh-server)',
};
