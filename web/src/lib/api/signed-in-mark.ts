/** Whether this browser may have a session: its cookie cannot be seen, and whoever never signed in need not
 *  ask the server, which would put a refusal into the audit trail. */
const name = 'orch-signed-in';

/** True too where the browser keeps nothing. */
export function mayBeSignedIn(): boolean {
  try {
    return localStorage.getItem(name) !== null;
  } catch {
    return true;
  }
}

export function markSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(name, 'yes');
    else localStorage.removeItem(name);
  } catch {
    // Then the server is asked.
  }
}
