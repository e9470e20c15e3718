/** The roles of contract/identity 4, from least to most privileged, as spelled in claims. */
const ladder = ['viewer', 'analyst', 'developer', 'admin', 'owner'] as const;
export type Role = (typeof ladder)[number];

/** As memberships are stored (contract/identity 1). */
export type StoredRole = Uppercase<Role>;

export const roles: readonly Role[] = ladder;

/** The role of that name in a claim; null for an unknown name. */
export const roleOf = (name: unknown): Role | null => ladder.find((role) => role === name) ?? null;

/** Whether a role is at least `least`. */
export const atLeast = (role: Role, minimum: Role): boolean => ladder.indexOf(role) >= ladder.indexOf(minimum);

export const storedRole = (role: Role): StoredRole => role.toUpperCase() as StoredRole;

/** The stored role for a name from the provider: an unknown one is VIEWER (contract/identity 4). */
export const storedRoleOf = (name: unknown): StoredRole =>
	storedRole(roleOf(typeof name === 'string' ? name.toLowerCase() : name) ?? 'viewer');
