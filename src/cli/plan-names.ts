/** The built-in plans; a server's PLANS_FILE may define others. */
export const planNames = ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE'] as const;
