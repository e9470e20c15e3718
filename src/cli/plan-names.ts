/** The plans that come with the program; a server's PLANS_FILE may have others. */
export const planNames = ['STARTER', 'SOLO', 'GROWTH', 'SCALE', 'ENTERPRISE'] as const;
