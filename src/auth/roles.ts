/** The ladder of contract/identity 4, least to most privileged, as claims spell it. */
const ladder = ['viewer', 'analyst', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof ladder)[number];

/** As memberships are stored (contract/identity 1). */
export type StoredRole = Uppercase<Role>;

export const roles: readonly Role[] = ladder;

/** The role of that name in a claim; null for anything else. */
export const roleOf = (name: unknown): Role | null => ladder.find((role) => role === name) ?? null;

/** Whether a role reaches a least one; a higher role passes a lower minimum. */
export const atLeast = (role: Role, minimum: Role): boolean => ladder.indexOf(role) >= ladder.indexOf(minimum);

export const storedRole = (role: Role): StoredRole => role.toUpperCase() as StoredRole;

/** What a membership is stored as for a name from the provider: an unknown one is VIEWER (contract/identity 4). */
export const storedRoleOf = (name: unknown): StoredRole =>
	storedRole(roleOf(typeof name === 'string' ? name.toLowerCase() : name) ?? 'viewer');
