// The version of SystemC whose behaviour kernel.cpp follows.
#pragma once

#define SC_VERSION_MAJOR 2
#define SC_VERSION_MINOR 3
#define SC_VERSION_PATCH 4
