// Empty: where the headers of all tests are compiled once, see cmake/WeirComponent.cmake.
