import { clsx, type ClassValue } from 'clsx';
import { twMerge } from 'tailwind-merge';

/** Joins class names; later ones override conflicting earlier ones. */
export function classes(...values: ClassValue[]): string {
  return twMerge(clsx(values));
}
